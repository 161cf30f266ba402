// A task of an environment as a job that an executor plays: what every caller takes from the environment is said here once, what differs is given.
import type { Environment } from '../environment/types.ts'
import type { RolloutJob } from '../harness/types.ts'
import type { TaskSource } from './task-source.ts'

/** What the environment does not say; `harness` and `tools` are its own where they are left out. */
export type JobSettings = Pick<RolloutJob, 'arm' | 'repeat' | 'run' | 'seed' | 'allowLive'> &
  Partial<Pick<RolloutJob, 'harness' | 'tools' | 'latency' | 'gate' | 'cache' | 'prices'>>

/** @throws HomegroundError not-found: the environment has no such task */
export async function rolloutJob(environment: Environment, tasks: TaskSource, id: string, settings: JobSettings): Promise<RolloutJob> {
  const { file, folder } = environment
  const { task, entries, recording } = await tasks.get(id)
  return {
    task,
    entries,
    ...(recording === undefined ? {} : { recording }),
    folder,
    project: file.provenance.projects[0] ?? file.name,
    unit: file.unit,
    harness: file.harness,
    tools: file.tools,
    ...(file.simulator === undefined ? {} : { simulator: file.simulator }),
    ...(file.user.mode === 'simulate' ? { simulatedUser: true as const } : {}),
    ...settings,
  }
}
