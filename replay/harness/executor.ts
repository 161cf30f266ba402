// Where rollouts are played: the product's code in worker threads (its own globals, its crashes contained), everything else in this thread.
import { availableParallelism } from 'node:os'
import type { HarnessSettings } from '../environment/types.ts'
import { executeRollout } from './rollout.ts'
import type { RolloutDeps, RolloutJob, RolloutResult } from './types.ts'
import { WorkerPool } from './worker-pool.ts'

export interface RolloutExecutor {
  /** @throws HomegroundError for wrong settings, and what the signal was aborted with; a rollout that fails is a result */
  run(job: RolloutJob): Promise<RolloutResult>
  close(): Promise<void>
}

export interface ExecutorOptions {
  harness: HarnessSettings
  concurrency: number
  deps: RolloutDeps
  /** Worker threads for harness `module`; 0 plays in this thread, with the system's clock, dice and network. @default one a core, at most `concurrency` */
  threads?: number
  /** Told of a worker thread that has ended, by its id. */
  onThreadDeath?(threadId: number): void
}

export function rolloutExecutor({ harness, concurrency, deps, threads, onThreadDeath }: ExecutorOptions): RolloutExecutor {
  const count = threads ?? Math.min(concurrency, availableParallelism())
  if (harness.kind !== 'module' || count === 0) return { run: (job) => executeRollout(job, deps), close: async () => {} }
  return new WorkerPool({
    threads: count,
    timeoutMs: harness.timeoutMs,
    ...(deps.signal === undefined ? {} : { signal: deps.signal }),
    ...(onThreadDeath === undefined ? {} : { onThreadDeath }),
  })
}
