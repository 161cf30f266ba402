// Scores a run again without playing it again: the recorded episodes, by the rubric and references that the environment has now. The run itself is left as it is.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { Environment, Task } from '../environment/types.ts'
import { Bill } from '../rubric/bill.ts'
import type { Prices } from '../rubric/cost.ts'
import { type OutsideGraders, openOutsideGraders } from '../rubric/outside-graders.ts'
import { scoreEpisode } from '../rubric/score-episode.ts'
import { openRun } from './open-run.ts'
import { Plan } from './plan.ts'
import { rolloutCostUsd } from './rollout-cost.ts'
import { RunFolder } from './run-folder.ts'
import type { Rollout, Run } from './types.ts'

export interface RescoreOptions {
  /** The new run's folder. The same call goes on with one that was interrupted. */
  folder: string
  id: string
  prices: Prices
  outside?: OutsideGraders
  /** Only rollouts that ended well and have no score (a judge was away); the others keep theirs. @default all */
  missing?: boolean
  /** Rollouts scored at once. @default 4 */
  concurrency?: number
  onProgress?: (done: number, planned: number) => void
}

/**
 * A rollout that broke off keeps its null; all others are scored anew. Rollouts that the run lacks stay lacking.
 * @throws HomegroundError run-mismatch where the environment no longer has a task of the run
 */
export async function rescoreRun(run: Run, environment: Environment, options: RescoreOptions): Promise<Run> {
  const { name, hash } = environment.file
  if (options.missing === true) refuseOtherRubric(run, hash)
  const outside = options.outside ?? openOutsideGraders(environment.folder)
  const file = { ...run.file, id: options.id, environment: { name, folder: environment.folder, hash } }
  const folder = await RunFolder.open(options.folder, file)
  try {
    const plan = new Plan(run.file)
    const byEpisode = new Map<string, Rollout>()
    for await (const rollout of run.rollouts()) byEpisode.set(rollout.episode, rollout)
    // Shared: each takes the next.
    const episodes = run.episodes()[Symbol.asyncIterator]()
    let failed = false
    const work = async (): Promise<void> => {
      for (let next = await episodes.next(); next.done !== true && !failed; next = await episodes.next()) {
        const rollout = byEpisode.get(next.value.id)
        const index = rollout && plan.indexOf(rollout)
        if (rollout === undefined || index === undefined || folder.done[index] === 1) continue
        const kept = options.missing === true && (rollout.score !== null || rollout.error !== undefined)
        const again = kept ? rollout : await scoredAgain(rollout, next.value, { run, environment, outside, prices: options.prices })
        await folder.add(index, again, next.value)
        options.onProgress?.(folder.doneCount, folder.plan.size)
      }
    }
    const stopAll = (error: unknown): never => {
      failed = true
      throw error
    }
    await Promise.all(Array.from({ length: options.concurrency ?? 4 }, () => work().catch(stopAll)))
  } finally {
    await folder.close()
    if (options.outside === undefined) await outside.close()
  }
  return openRun(options.folder)
}

interface Scoring {
  run: Run
  environment: Environment
  outside: OutsideGraders
  prices: Prices
}

async function scoredAgain(rollout: Rollout, episode: Episode, { run, environment, outside, prices }: Scoring): Promise<Rollout> {
  const task = await taskOf(environment, rollout.task)
  const arm = run.file.arms.find((each) => each.name === rollout.arm)
  const costUsd = rollout.costUsd ?? (arm && rolloutCostUsd(episode, arm, prices))
  const bill = new Bill(prices)
  const { scores, score } = await scoreEpisode(environment.rubric, {
    episode,
    task,
    tools: environment.file.tools,
    costUsd,
    outside: outside.billedTo(bill),
  })
  const { judges: _, ...rest } = rollout
  const judges = bill.total()
  return {
    ...rest,
    ...(judges && { judges }),
    scores,
    score: rollout.error === undefined ? score : null,
    ...(costUsd !== undefined && { costUsd }),
  }
}

/** Half of a run's scores by one rubric and half by another would be compared as if they were alike. */
function refuseOtherRubric(run: Run, hash: string): void {
  if (run.file.environment.hash === hash) return
  throw new HomegroundError('run-mismatch', 'the environment has changed since the run was scored, so that its scores cannot be kept', {
    hint: 'rescore all of it: leave --missing out',
  })
}

async function taskOf(environment: Environment, id: string): Promise<Task> {
  const task = await environment.task(id)
  if (task) return task
  throw new HomegroundError('run-mismatch', `${environment.folder} has no task ${id}, which the run played`, {
    hint: 'rescore with the environment that the run was made from, or with one that has its tasks',
  })
}
