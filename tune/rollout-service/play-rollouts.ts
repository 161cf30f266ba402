// Plays rollouts of an environment with a policy and scores them, each told as it ends. Nothing is written: the trainer keeps what it needs.
import { HomegroundError } from '@homeground/sdk/trace'
import type { Environment } from '../../replay/environment/types.ts'
import { type RolloutExecutor, rolloutExecutor } from '../../replay/harness/executor.ts'
import type { RolloutDeps, RolloutJob } from '../../replay/harness/types.ts'
import { type OutsideGraders, openOutsideGraders, scoreEpisode } from '../../replay/rubric/index.ts'
import { rolloutJob } from '../../replay/run/rollout-job.ts'
import { systemDeps } from '../../replay/run/system-deps.ts'
import { TaskSource } from '../../replay/run/task-source.ts'
import type { PlayedEnvironment, PlayedRollout, PlayRequest } from './types.ts'

export interface PlayerOptions {
  /** Stays open as long as the player. */
  environment: Environment
  /** Rollouts at a time. @default 32 */
  concurrency?: number
  /** Tools with side effects that may run live, where the environment says live too. */
  allowLive?: readonly string[]
  /** Worker threads for harness `module`; 0 plays in this thread. @default one a core */
  threads?: number
}

export interface RolloutPlayer {
  played: PlayedEnvironment
  /** Resolves when all are told. @throws HomegroundError for wrong settings; what `signal` was aborted with */
  play(request: PlayRequest, tell: (rollout: PlayedRollout) => void, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export function rolloutPlayer({ environment, concurrency = 32, allowLive = [], threads }: PlayerOptions): RolloutPlayer {
  const { file } = environment
  const deps: RolloutDeps = systemDeps()
  const tasks = new TaskSource(environment, { recordings: false })
  const outside = openOutsideGraders(environment.folder)
  const executor = rolloutExecutor({ harness: file.harness, concurrency, deps, ...(threads === undefined ? {} : { threads }) })
  return {
    played: { name: file.name, hash: file.hash, tapeBound: isTapeBound(environment) },
    async play(request, tell, signal) {
      let next = 0
      const work = async (): Promise<void> => {
        for (let asked = request.rollouts[next++]; asked !== undefined; asked = request.rollouts[next++]) {
          signal.throwIfAborted()
          const job = await rolloutJob(environment, tasks, asked.task, {
            arm: { name: 'policy', model: 'policy', url: request.policy.replace('{id}', asked.id) },
            repeat: asked.repeat,
            run: `step-${request.step}`,
            seed: request.step,
            allowLive,
          })
          tell(await played(asked.id, job, { executor, outside, environment }))
        }
      }
      await Promise.all(Array.from({ length: Math.min(concurrency, request.rollouts.length) }, work))
    },
    async close() {
      await Promise.all([executor.close(), outside.close()])
    },
  }
}

interface Parts {
  executor: RolloutExecutor
  outside: OutsideGraders
  environment: Environment
}

/** What broke off for reasons that are not the policy's has no score, never 0. */
async function played(id: string, job: RolloutJob, { executor, outside, environment }: Parts): Promise<PlayedRollout> {
  const result = await executor.run(job)
  const scoring = { episode: result.episode, task: job.task, tools: environment.file.tools, costUsd: undefined, outside }
  const { scores, score } = await scoreEpisode(environment.rubric, scoring)
  const failed = result.error !== undefined
  return {
    id,
    task: job.task.id,
    score: failed ? null : score,
    criteria: Object.fromEntries(Object.entries(scores).map(([name, { value }]) => [name, failed ? null : value])),
    offTape: result.offTape.count,
    stop: result.stop,
    ...(result.error === undefined ? {} : { error: result.error }),
    durationMs: result.durationMs,
  }
}

/** A tool that answers from the tape alone can only reinforce what was recorded. */
function isTapeBound({ file }: Environment): boolean {
  return Object.values(file.tools).some((tool) => tool.mode === 'tape' && tool.onMiss !== 'simulate')
}

/** Only `train` may teach. @throws HomegroundError invalid-input: a task is not there, or of another split */
export async function refuseOtherSplits(environment: Environment, ids: readonly string[]): Promise<void> {
  for (const id of new Set(ids)) {
    const task = await environment.task(id)
    if (task?.split === 'train') continue
    const found = task === undefined ? 'not in the environment' : `of the split ${task.split}`
    throw new HomegroundError('invalid-input', `task ${id} is ${found}; rollouts that train play tasks of the split train`, {
      hint: 'write the tasks anew: homeground dataset ENV --format trl-grpo, or leave --data out to play all of train',
    })
  }
}
