// Rollouts of a run as candidates: their scores from the run, their split from the environment that the run was made on.
import { HomegroundError } from '@homeground/sdk/trace'
import { openEnvironment } from '../../replay/environment/open.ts'
import type { Environment, Split } from '../../replay/environment/types.ts'
import { openRun } from '../../replay/run/open-run.ts'
import type { Rollout, Run } from '../../replay/run/types.ts'
import type { Candidate, FolderSource } from './types.ts'

export interface RunSourceOptions {
  /** Where the environment is, if not where it was when the run was made. */
  environment?: string
  /** Rollouts of these arms only. @default all */
  arms?: readonly string[]
}

/**
 * Close it when done.
 * @throws HomegroundError not-found, invalid-input, environment-invalid; run-mismatch: the environment has changed since
 */
export async function runSource(folder: string, options: RunSourceOptions = {}): Promise<FolderSource> {
  const run = await openRun(folder)
  checkArms(run, options.arms ?? [])
  const environment = await openEnvironment(options.environment ?? run.file.environment.folder)
  if (environment.file.hash !== run.file.environment.hash) {
    await environment.close()
    throw new HomegroundError('run-mismatch', `${run.folder}: its environment ${environment.folder} has changed since the run was made`, {
      hint: 'run it again on the environment as it is, or give the old one with --environment',
    })
  }
  return {
    environment,
    candidates: () => candidatesOf(run, environment, options.arms),
    tasks: () => environment.tasks({ ids: run.file.tasks }),
    close: () => environment.close(),
  }
}

async function* candidatesOf(run: Run, environment: Environment, arms: readonly string[] | undefined): AsyncGenerator<Candidate> {
  const splits = new Map<string, Split>()
  for await (const task of environment.tasks({ ids: run.file.tasks })) splits.set(task.id, task.split)
  const rollouts = new Map<string, Rollout>()
  for await (const rollout of run.rollouts()) {
    if (arms === undefined || arms.includes(rollout.arm)) rollouts.set(rollout.episode, rollout)
  }
  for await (const episode of run.episodes()) {
    const rollout = rollouts.get(episode.id)
    if (rollout === undefined) continue
    // A run that was killed may have written an episode twice: the first counts.
    rollouts.delete(episode.id)
    yield {
      episode,
      task: rollout.task,
      session: rollout.session,
      split: splits.get(rollout.task),
      score: rollout.score,
      arm: rollout.arm,
      repeat: rollout.repeat,
      stopped: rollout.error !== undefined || rollout.stop !== 'done',
    }
  }
  const [lost] = rollouts.values()
  if (lost === undefined) return
  // A run writes the episode first: the file was cut, or copied in part.
  const which = `${lost.task}, ${lost.arm}, repeat ${lost.repeat}`
  throw new HomegroundError(
    'invalid-input',
    `${run.folder}: episodes.jsonl lacks the episodes of ${rollouts.size} rollouts, first ${which}`,
    {
      hint: 'copy the run folder again, whole; or make the run anew in another folder',
    },
  )
}

function checkArms(run: Run, wanted: readonly string[]): void {
  const names = run.file.arms.map(({ name }) => name)
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown === undefined) return
  throw new HomegroundError('invalid-argument', `${run.folder} has no arm ${unknown}`, { hint: `its arms are ${names.join(', ')}` })
}
