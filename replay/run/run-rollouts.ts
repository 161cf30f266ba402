// Runs every task by every arm as often as asked, several at a time, and writes each result as it comes. Interrupted, the same call goes on where it stopped.
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { Environment, HarnessSettings, Split } from '../environment/types.ts'
import { rolloutExecutor } from '../harness/executor.ts'
import type { RolloutDeps, RolloutJob, RolloutResult } from '../harness/types.ts'
import { episodeCostUsd, type Prices, readPrices } from '../rubric/cost.ts'
import { type OutsideGraders, openOutsideGraders } from '../rubric/outside-graders.ts'
import { scoreEpisode } from '../rubric/score-episode.ts'
import { openRun } from './open-run.ts'
import type { Planned } from './plan.ts'
import { rolloutJob } from './rollout-job.ts'
import { RunFolder } from './run-folder.ts'
import { systemDeps } from './system-deps.ts'
import { TaskSource } from './task-source.ts'
import { type Arm, armSchema, type Rollout, type Run, type RunFile } from './types.ts'

export interface RunOptions {
  arms: readonly Arm[]
  /** The run's folder; made, or gone on with. */
  folder: string
  /** @default a new one, of the time */
  id?: string
  /** Version of this package, for run.json. */
  homeground: string
  /** @default 1 */
  repeats?: number
  /** @default 4 */
  concurrency?: number
  /** @default 0 */
  seed?: number
  /** Equivalence margin on the primary score. @default 0.05 */
  margin?: number
  /** @default all tasks */
  tasks?: { split?: Split; ids?: readonly string[]; limit?: number }
  /** @default the environment's */
  harness?: HarnessSettings
  allowLive?: readonly string[]
  prices?: Prices
  onProgress?(progress: Progress): void
  signal?: AbortSignal
  /** Worker threads for harness `module`; 0 plays in this thread. @default one a core, at most `concurrency` */
  threads?: number
  /** Clock, fetch and the like for what is played in this thread; worker threads (harness `module`) have the system's own. */
  deps?: Partial<RolloutDeps>
}

export interface Progress {
  done: number
  planned: number
  /** Rollouts of this call, not of earlier ones. */
  ran: number
  errors: number
  rollout?: Rollout
}

/**
 * Resolves when all rollouts are there.
 * @throws HomegroundError invalid-argument, invalid-settings, run-mismatch, seam-not-found; interrupted when `signal` is aborted
 */
export async function runRollouts(environment: Environment, options: RunOptions): Promise<Run> {
  const file = await runFileOf(environment, options)
  const folder = await RunFolder.open(options.folder, file)
  const deps: RolloutDeps = { ...systemDeps(), ...options.deps, ...(options.signal === undefined ? {} : { signal: options.signal }) }
  const tasks = new TaskSource(environment, { recordings: file.arms.some((arm) => arm.model === 'recorded') })
  const concurrency = Math.max(1, options.concurrency ?? 4)
  const executor = rolloutExecutor({
    harness: file.harness,
    concurrency,
    deps,
    ...(options.threads === undefined ? {} : { threads: options.threads }),
  })
  const prices = options.prices ?? readPrices()
  const outside = openOutsideGraders(environment.folder)
  const progress: Progress = { done: folder.doneCount, planned: folder.plan.size, ran: 0, errors: 0 }
  options.onProgress?.({ ...progress })

  let next = 0
  let failure: unknown
  const take = (): number | undefined => {
    while (next < folder.plan.size && folder.done[next] === 1) next += 1
    return next < folder.plan.size ? next++ : undefined
  }
  const work = async (): Promise<void> => {
    for (let index = take(); index !== undefined && failure === undefined; index = take()) {
      try {
        options.signal?.throwIfAborted()
        const planned = folder.plan.at(index)
        const job = await jobOf(environment, folder.file, planned, tasks, options)
        const result = await executor.run(job)
        const rollout = await scored(environment, job, result, prices, outside)
        await folder.add(index, rollout, result.episode)
        progress.ran += 1
        if (rollout.error !== undefined) progress.errors += 1
        options.onProgress?.({ ...progress, done: folder.doneCount, rollout })
      } catch (error) {
        failure ??= error
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, work))
  } finally {
    await executor.close()
    const stopped = failure !== undefined && options.signal?.aborted !== true
    await Promise.all([stopped ? folder.abandon() : folder.close(), outside.close()])
  }
  if (options.signal?.aborted === true) {
    throw new HomegroundError('interrupted', `the run was stopped after ${folder.doneCount} of ${folder.plan.size} rollouts`, {
      hint: 'the same command goes on where it stopped',
      cause: failure,
    })
  }
  if (failure !== undefined) throw failure
  return await openRun(options.folder)
}

/** `20260131-120000-1a2b3c`: sorts by time. */
export function newRunId(): string {
  return `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(3).toString('hex')}`
}

async function runFileOf(environment: Environment, options: RunOptions): Promise<RunFile> {
  const names = options.arms.map((arm) => arm.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (names.length === 0 || twice !== undefined) {
    throw new HomegroundError('invalid-argument', twice === undefined ? 'a run needs at least one arm' : `two arms are named ${twice}`, {
      hint: 'give --arm NAME=MODEL once for each model under test',
    })
  }
  const tasks: string[] = []
  for await (const task of environment.tasks(options.tasks)) {
    if (tasks.length === options.tasks?.limit) break
    tasks.push(task.id)
  }
  if (tasks.length === 0) {
    throw new HomegroundError('invalid-argument', `no task of ${environment.file.name} is chosen`, { hint: 'loosen --split or --task' })
  }
  return {
    format: 1,
    id: options.id ?? newRunId(),
    environment: { name: environment.file.name, folder: environment.folder, hash: environment.file.hash },
    arms: options.arms.map((arm) => armSchema.parse(arm)),
    harness: options.harness ?? environment.file.harness,
    tasks,
    repeats: options.repeats ?? 1,
    seed: options.seed ?? 0,
    margin: options.margin ?? 0.05,
    startedAt: new Date().toISOString(),
    versions: { homeground: options.homeground, node: process.versions.node },
  }
}

function jobOf(
  environment: Environment,
  run: RunFile,
  { task, arm, repeat }: Planned,
  tasks: TaskSource,
  options: RunOptions,
): Promise<RolloutJob> {
  return rolloutJob(environment, tasks, task, {
    harness: run.harness,
    arm: arm.cwd === undefined ? arm : { ...arm, cwd: path.resolve(arm.cwd) },
    repeat,
    run: run.id,
    seed: run.seed,
    allowLive: options.allowLive ?? [],
  })
}

/** A rollout that broke off for reasons that are not the candidate's has no score: null, never 0. */
async function scored(
  environment: Environment,
  job: RolloutJob,
  result: RolloutResult,
  prices: Prices,
  outside: OutsideGraders,
): Promise<Rollout> {
  const { task } = job
  const costUsd = episodeCostUsd(result.episode, prices)
  const whole = await scoreEpisode(environment.rubric, { episode: result.episode, task, tools: environment.file.tools, costUsd, outside })
  return rolloutOf(job, result, { ...whole, score: result.error === undefined ? whole.score : null }, costUsd)
}

function rolloutOf(
  job: RolloutJob,
  result: RolloutResult,
  { scores, score }: Pick<Rollout, 'scores' | 'score'>,
  costUsd: number | undefined,
): Rollout {
  const episode: Episode = result.episode
  return {
    task: job.task.id,
    session: job.task.session,
    arm: job.arm.name,
    repeat: job.repeat,
    scores,
    score,
    offTape: result.offTape,
    ...(result.unconsumedWrites.length === 0 ? {} : { unconsumedWrites: result.unconsumedWrites }),
    ...(result.staleReads === 0 ? {} : { staleReads: result.staleReads }),
    ...(result.simulated === undefined ? {} : { simulated: result.simulated }),
    ...(result.userTurns === undefined ? {} : { userTurns: result.userTurns }),
    ...(result.divergence === undefined ? {} : { divergence: result.divergence }),
    ...(result.untranslated === undefined ? {} : { untranslated: result.untranslated }),
    usage: result.usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    durationMs: result.durationMs,
    ...(result.error === undefined ? {} : { error: result.error }),
    stop: result.stop,
    episode: episode.id,
  }
}
