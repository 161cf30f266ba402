// replay/work: a run's rollouts on many machines.
export { jobPartitions, type WorkTopics, workTopics } from './channel.ts'
export { handOut } from './hand-out.ts'
export { openSites } from './sites.ts'
export { startWorker, type Worker, type WorkerEvent } from './worker.ts'
