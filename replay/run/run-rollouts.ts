// Runs every task by every arm as often as asked, several at a time, and writes each result as it comes. Interrupted, or out of budget, the same call goes on where it stopped.
import { randomBytes } from 'node:crypto'
import { type Episode, HomegroundError, parseInput } from '@homeground/sdk/trace'
import type { Environment, HarnessSettings, Split } from '../environment/types.ts'
import type { AnswerCacheSettings } from '../gateway/answer-cache.ts'
import type { RolloutDeps } from '../harness/types.ts'
import { type Prices, readPrices } from '../rubric/cost.ts'
import { Budget, otherModels } from './budget.ts'
import { checkArms } from './check-arms.ts'
import { localPlayer } from './local-player.ts'
import { openRun } from './open-run.ts'
import type { Planned } from './plan.ts'
import { RunFolder } from './run-folder.ts'
import { systemDeps } from './system-deps.ts'
import { type Arm, type Rollout, type Run, type RunFile, runFileSchema } from './types.ts'

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
  /** Recorded tool results and reads take so many times what they took when recorded. @default no time (harness `module`: 1, on its own clock) */
  latency?: number
  /** Equivalence margin on the primary score. @default 0.05 */
  margin?: number
  /** @default all tasks */
  tasks?: { split?: Split; ids?: readonly string[]; limit?: number }
  /** @default the environment's */
  harness?: HarnessSettings
  allowLive?: readonly string[]
  prices?: Prices
  /** US dollars of model calls, those of judges and simulators and of earlier calls of this run too, at which no further rollout is begun. @default no limit */
  maxCostUsd?: number
  /** Where answers of models are looked up and kept. @default none */
  cache?: AnswerCacheSettings
  onProgress?(progress: Progress): void
  signal?: AbortSignal
  /** Worker threads for harness `module`; 0 plays in this thread. @default one a core, at most `concurrency` */
  threads?: number
  /** Clock, fetch and the like for what is played in this thread; worker threads (harness `module`) have the system's own. */
  deps?: Partial<RolloutDeps>
  /** Who plays. @default this process */
  players?: OpenPlayers
}

/** Hands rollouts to whoever plays them. */
export interface Players {
  /** Resolves when the rollout has been kept. @throws HomegroundError for wrong settings, and what the signal was aborted with */
  play(index: number, planned: Planned): Promise<void>
  close(): Promise<void>
}

/** `keep` writes a rollout into the run, once: a result that comes again changes nothing. */
export type OpenPlayers = (run: {
  file: RunFile
  allowLive: readonly string[]
  keep(index: number, rollout: Rollout, episode: Episode): Promise<void>
  /** Whether every rollout has been kept. */
  isComplete(): boolean
  signal: AbortSignal
}) => Promise<Players>

export interface Progress {
  done: number
  planned: number
  /** Rollouts of this call, not of earlier ones. */
  ran: number
  errors: number
  /** US dollars, of earlier calls too; rollouts of unknown cost are not in it. */
  spentUsd: number
  rollout?: Rollout
}

/**
 * Resolves when all rollouts are there, or the budget is spent: `size` says which.
 * @throws HomegroundError invalid-argument, invalid-settings, run-mismatch, seam-not-found; interrupted when `signal` is aborted
 */
export async function runRollouts(environment: Environment, options: RunOptions): Promise<Run> {
  const file = await runFileOf(environment, options)
  const prices = options.prices ?? readPrices()
  const budget = new Budget(options.maxCostUsd, { arms: file.arms, others: otherModels(environment) }, prices)
  const folder = await RunFolder.open(options.folder, file, (rollout) => budget.countEarlier(rollout))
  const progress: Progress = { done: folder.doneCount, planned: folder.plan.size, ran: 0, errors: 0, spentUsd: budget.spentUsd }

  let failure: unknown
  const failing = new AbortController()
  const signal = options.signal === undefined ? failing.signal : AbortSignal.any([options.signal, failing.signal])
  const keeping = new Map<number, Promise<void>>()
  const keep = async (index: number, rollout: Rollout, episode: Episode): Promise<void> => {
    if (folder.done[index] === 1) return
    const writing = keeping.get(index) ?? write(index, rollout, episode)
    keeping.set(index, writing)
    await writing
    keeping.delete(index)
  }
  const write = async (index: number, rollout: Rollout, episode: Episode): Promise<void> => {
    await folder.add(index, rollout, episode)
    budget.count(rollout, episode)
    progress.ran += 1
    if (rollout.error !== undefined) progress.errors += 1
    options.onProgress?.({ ...progress, done: folder.doneCount, spentUsd: budget.spentUsd, rollout })
  }

  let players: Players | undefined
  let next = 0
  const take = (): number | undefined => {
    while (next < folder.plan.size && folder.done[next] === 1) next += 1
    return next < folder.plan.size && !budget.isSpent ? next++ : undefined
  }
  const work = async (to: Players): Promise<void> => {
    for (let index = take(); index !== undefined && failure === undefined; index = take()) {
      try {
        options.signal?.throwIfAborted()
        await to.play(index, folder.plan.at(index))
      } catch (error) {
        failure ??= error
        failing.abort(error)
      }
    }
  }
  const concurrency = Math.max(1, options.concurrency ?? 4)
  try {
    options.onProgress?.({ ...progress })
    const open = options.players ?? playersHere(environment, options, prices, concurrency)
    const isComplete = () => folder.doneCount === folder.plan.size
    players = await open({ file: folder.file, allowLive: options.allowLive ?? [], keep, isComplete, signal })
    const all = players
    await Promise.all(Array.from({ length: Math.min(concurrency, folder.plan.size) }, () => work(all)))
  } catch (error) {
    failure ??= error
  } finally {
    await players?.close()
    const stopped = failure !== undefined && options.signal?.aborted !== true
    await (stopped ? folder.abandon() : folder.close())
  }
  if (options.signal?.aborted === true) {
    throw new HomegroundError('interrupted', `the run was stopped after ${folder.doneCount} of ${folder.plan.size} rollouts`, {
      hint: 'the same command goes on where it stopped',
      cause: failure,
    })
  }
  if (failure !== undefined) throw failure
  return await openRun(options.folder, folder)
}

/** Plays in this process. */
function playersHere(environment: Environment, options: RunOptions, prices: Prices, concurrency: number): OpenPlayers {
  return async ({ file, allowLive, keep }) => {
    const deps: RolloutDeps = { ...systemDeps(), ...options.deps, ...(options.signal === undefined ? {} : { signal: options.signal }) }
    const player = localPlayer(environment, {
      harness: file.harness,
      concurrency,
      recordings: file.arms.some((arm) => arm.model === 'recorded'),
      plays: file.arms.length * file.repeats,
      prices,
      deps,
      ...(options.cache === undefined ? {} : { cache: options.cache }),
      ...(options.threads === undefined ? {} : { threads: options.threads }),
    })
    return {
      async play(index, planned) {
        const { rollout, episode } = await player.play({ ...file, allowLive }, planned)
        await keep(index, rollout, episode)
      },
      close: () => player.close(),
    }
  }
}

/** `20260131-120000-1a2b3c`: sorts by time. */
export function newRunId(): string {
  return `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(3).toString('hex')}`
}

async function runFileOf(environment: Environment, options: RunOptions): Promise<RunFile> {
  checkArms(options.arms)
  const tasks: string[] = []
  for await (const task of environment.tasks(options.tasks)) {
    if (tasks.length === options.tasks?.limit) break
    tasks.push(task.id)
  }
  if (tasks.length === 0) {
    throw new HomegroundError('invalid-argument', `no task of ${environment.file.name} is chosen`, { hint: 'loosen --split or --task' })
  }
  const file = {
    format: 1,
    id: options.id ?? newRunId(),
    environment: { name: environment.file.name, folder: environment.folder, hash: environment.file.hash },
    arms: options.arms,
    harness: options.harness ?? environment.file.harness,
    tasks,
    repeats: options.repeats ?? 1,
    seed: options.seed ?? 0,
    ...(options.latency === undefined ? {} : { latency: options.latency }),
    margin: options.margin ?? 0.05,
    startedAt: new Date().toISOString(),
    versions: { homeground: options.homeground, node: process.versions.node },
  }
  // What would be refused when the run is opened is refused before it is played.
  return parseInput(runFileSchema, file, { place: 'options', what: 'those of a run', code: 'invalid-argument', hint: 'mend that option' })
}
