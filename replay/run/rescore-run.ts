// Scores a run again without playing it again: the recorded episodes, by the rubric and references that the environment has now. The run itself is left as it is.
import { HomegroundError } from '@homeground/sdk/trace'
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
  onProgress?: (done: number, planned: number) => void
}

/**
 * A rollout that broke off keeps its null; all others are scored anew. Rollouts that the run lacks stay lacking.
 * @throws HomegroundError run-mismatch where the environment no longer has a task of the run
 */
export async function rescoreRun(run: Run, environment: Environment, options: RescoreOptions): Promise<Run> {
  const outside = options.outside ?? openOutsideGraders(environment.folder)
  const { name, hash } = environment.file
  const file = { ...run.file, id: options.id, environment: { name, folder: environment.folder, hash } }
  const folder = await RunFolder.open(options.folder, file)
  try {
    const plan = new Plan(run.file)
    const byEpisode = new Map<string, Rollout>()
    for await (const rollout of run.rollouts()) byEpisode.set(rollout.episode, rollout)
    for await (const episode of run.episodes()) {
      const rollout = byEpisode.get(episode.id)
      const index = rollout && plan.indexOf(rollout)
      if (rollout === undefined || index === undefined || folder.done[index] === 1) continue
      const task = await taskOf(environment, rollout.task)
      const arm = run.file.arms.find((each) => each.name === rollout.arm)
      const costUsd = rollout.costUsd ?? (arm && rolloutCostUsd(episode, arm, options.prices))
      const bill = new Bill(options.prices)
      const { scores, score } = await scoreEpisode(environment.rubric, {
        episode,
        task,
        tools: environment.file.tools,
        costUsd,
        outside: outside.billedTo(bill),
      })
      const { judges: _, ...rest } = rollout
      const judges = bill.total()
      const again: Rollout = {
        ...rest,
        ...(judges && { judges }),
        scores,
        score: rollout.error === undefined ? score : null,
        ...(costUsd !== undefined && { costUsd }),
      }
      await folder.add(index, again, episode)
      options.onProgress?.(folder.doneCount, folder.plan.size)
    }
  } finally {
    await folder.close()
    if (options.outside === undefined) await outside.close()
  }
  return openRun(options.folder)
}

async function taskOf(environment: Environment, id: string): Promise<Task> {
  const task = await environment.task(id)
  if (task) return task
  throw new HomegroundError('run-mismatch', `${environment.folder} has no task ${id}, which the run played`, {
    hint: 'rescore with the environment that the run was made from, or with one that has its tasks',
  })
}
