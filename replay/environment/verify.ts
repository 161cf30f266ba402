// Plays each task against its own recording: what is reproduced, and for the rest where it first parts and why. An environment that does not reproduce itself cannot judge a candidate.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import { type RolloutExecutor, rolloutExecutor } from '../harness/executor.ts'
import type { RolloutDeps, RolloutJob, RolloutResult } from '../harness/types.ts'
import { rolloutJob } from '../run/rollout-job.ts'
import { systemDeps } from '../run/system-deps.ts'
import { TaskSource } from '../run/task-source.ts'
import { advice, type Cause, causeOf, stoppedBy } from './cause.ts'
import { firstParting, type Parting } from './divergence.ts'
import type { Environment, Split } from './types.ts'

export interface VerifyOptions {
  tasks?: { split?: Split; ids?: readonly string[]; limit?: number }
  /** @default 4 */
  concurrency?: number
  onProgress?(progress: { done: number; planned: number; reproduced: number }): void
  signal?: AbortSignal
  /** Worker threads for harness `module`; 0 plays in this thread. @default one a core, at most `concurrency` */
  threads?: number
  deps?: Partial<RolloutDeps>
}

export interface Verification {
  environment: { name: string; folder: string; hash: string }
  tasks: number
  reproduced: number
  /** reproduced / tasks */
  share: number
  /** Tool calls and reads that left the tape, over all tasks. */
  offTape: number
  divergences: TaskDivergence[]
  /** How many tasks part for each cause. */
  causes: Partial<Record<Cause, number>>
}

/** Where a task's replay first parts from its recording. */
export interface TaskDivergence {
  task: string
  /** Of the recording, from 1; and what it is: `model call`, `tool get_order`, `end`. */
  step: number
  what: string
  /** `request.messages[0].parts[0].content` */
  path: string
  expected: string
  actual: string
  cause: Cause
  /** The next action. */
  hint: string
}

/** @throws HomegroundError environment-invalid (a task without its recording), seam-not-found, not-found, interrupted */
export async function verifyEnvironment(environment: Environment, options: VerifyOptions = {}): Promise<Verification> {
  const ids = await chosen(environment, options)
  const deps: RolloutDeps = { ...systemDeps(), ...options.deps, ...(options.signal === undefined ? {} : { signal: options.signal }) }
  const tasks = new TaskSource(environment, { recordings: true, uses: 1 })
  const concurrency = Math.max(1, options.concurrency ?? 4)
  const { harness } = environment.file
  const executor = rolloutExecutor({ harness, concurrency, deps, ...(options.threads === undefined ? {} : { threads: options.threads }) })
  const found = new Map<number, TaskDivergence>()
  let offTape = 0
  let next = 0
  let done = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < ids.length; index = next++) {
      const checked = await verifyTask(environment, ids[index] ?? '', tasks, executor)
      offTape += checked.offTape
      if (checked.divergence !== undefined) found.set(index, checked.divergence)
      done += 1
      options.onProgress?.({ done, planned: ids.length, reproduced: done - found.size })
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, work))
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
    throw new HomegroundError('interrupted', `stopped after ${done} of ${ids.length} tasks`, {
      hint: 'run the command again',
      cause: error,
    })
  } finally {
    // Its threads would keep the command from ending.
    await executor.close()
  }
  const divergences = [...found].sort(([a], [b]) => a - b).map(([, divergence]) => divergence)
  const causes: Partial<Record<Cause, number>> = {}
  for (const { cause } of divergences) causes[cause] = (causes[cause] ?? 0) + 1
  return {
    environment: { name: environment.file.name, folder: environment.folder, hash: environment.file.hash },
    tasks: ids.length,
    reproduced: ids.length - divergences.length,
    share: (ids.length - divergences.length) / ids.length,
    offTape,
    divergences,
    causes,
  }
}

async function chosen(environment: Environment, options: VerifyOptions): Promise<string[]> {
  const ids: string[] = []
  for await (const task of environment.tasks(options.tasks)) {
    if (ids.length === options.tasks?.limit) break
    ids.push(task.id)
  }
  if (ids.length > 0) return ids
  throw new HomegroundError('invalid-argument', `no task of ${environment.file.name} is chosen`, { hint: 'loosen --split or --task' })
}

async function verifyTask(
  environment: Environment,
  id: string,
  tasks: TaskSource,
  executor: RolloutExecutor,
): Promise<{ offTape: number; divergence?: TaskDivergence }> {
  const job = await jobOf(environment, id, tasks)
  const result = await executor.run(job)
  const parting = partingOf(job, result)
  if (parting === undefined) return { offTape: result.offTape.count }
  // Once more: what differs from replay to replay is no change of code.
  const again = partingOf(job, await executor.run(job))
  const unstable = again?.path !== parting.path || again.actualPart !== parting.actualPart
  const { step, what, path, expected, actual } = parting
  const cause = causeFor(result, parting, unstable)
  return { offTape: result.offTape.count, divergence: { task: id, step, what, path, expected, actual, cause, hint: advice[cause] } }
}

function causeFor(result: RolloutResult, parting: Parting, unstable: boolean): Cause {
  const stopped = stoppedBy.find((type) => type === result.error?.type)
  if (stopped !== undefined) return stopped
  if (parting.cut) return 'cut-recording'
  return causeOf(parting, { place: parting.place, unstable })
}

function partingOf(job: RolloutJob, result: RolloutResult): Parting | undefined {
  if (job.recording === undefined) return undefined
  const { recording, task, harness, unit } = job
  return (
    firstParting({ recorded: recording, replayed: result.episode, task, harness: harness.kind, unit }) ?? stoppedAtEnd(recording, result)
  )
}

/** Stopped in what it did not wait for, the product may have come to its end all the same: a run would have no score of it. */
function stoppedAtEnd({ steps }: Episode, { error }: RolloutResult): Parting | undefined {
  if (!stoppedBy.some((type) => type === error?.type)) return undefined
  const actual = error?.message ?? ''
  return {
    step: steps.length,
    what: 'end',
    path: 'error',
    expected: '(none)',
    actual,
    expectedPart: '',
    actualPart: '',
    place: 'other',
    cut: false,
  }
}

function jobOf(environment: Environment, id: string, tasks: TaskSource): Promise<RolloutJob> {
  return rolloutJob(environment, tasks, id, {
    // Self-replay plays the tape alone: nothing is mocked, simulated or run.
    tools: Object.fromEntries(
      Object.entries(environment.file.tools).map(([name, tool]) => [name, { ...tool, mode: 'tape', onMiss: 'error' }]),
    ),
    arm: { name: 'recorded', model: 'recorded' },
    repeat: 0,
    run: 'verify',
    seed: 0,
    allowLive: [],
  })
}
