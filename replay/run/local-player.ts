// Plays a run's rollouts on this machine and scores them: the harness's executor, then the rubric. Writes nothing.
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import type { Environment, HarnessSettings } from '../environment/types.ts'
import type { AnswerCacheSettings } from '../gateway/answer-cache.ts'
import { ArmGate } from '../gateway/arm-gate.ts'
import { rolloutExecutor } from '../harness/executor.ts'
import type { RolloutDeps, RolloutJob, RolloutResult } from '../harness/types.ts'
import { Bill, type Billed } from '../rubric/bill.ts'
import type { Prices } from '../rubric/cost.ts'
import { openOutsideGraders } from '../rubric/outside-graders.ts'
import { scoreEpisode } from '../rubric/score-episode.ts'
import type { Planned } from './plan.ts'
import { rolloutCostUsd } from './rollout-cost.ts'
import { rolloutJob } from './rollout-job.ts'
import { TaskSource } from './task-source.ts'
import type { Arm, Rollout, RunFile } from './types.ts'

export interface LocalPlayerOptions {
  harness: HarnessSettings
  /** Rollouts at a time, at most: sizes the worker threads. */
  concurrency: number
  /** Whether an arm answers as recorded. */
  recordings: boolean
  /** How often each task is played. @default not known */
  plays?: number
  prices: Prices
  cache?: AnswerCacheSettings
  deps: RolloutDeps
  threads?: number
}

/** What of a run decides one rollout. */
export type RunOfRollout = Pick<RunFile, 'id' | 'seed' | 'latency'> & { allowLive: readonly string[] }

export interface Played {
  rollout: Rollout
  episode: Episode
}

export interface LocalPlayer {
  /** @throws HomegroundError for wrong settings, and what the signal of `deps` was aborted with; a rollout that fails is a result */
  play(run: RunOfRollout, planned: Planned): Promise<Played>
  close(): Promise<void>
}

export function localPlayer(environment: Environment, options: LocalPlayerOptions): LocalPlayer {
  const { harness, concurrency, deps, prices, threads } = options
  const tasks = new TaskSource(environment, {
    recordings: options.recordings,
    ...(options.plays === undefined ? {} : { uses: options.plays }),
  })
  const gates = new Map<string, ArmGate>()
  const onThreadDeath = (thread: number): void => {
    for (const gate of gates.values()) gate.free(thread)
  }
  const executor = rolloutExecutor({ harness, concurrency, deps, onThreadDeath, ...(threads === undefined ? {} : { threads }) })
  const outside = openOutsideGraders(environment.folder)
  const gateOf = (arm: Arm): ArmGate => {
    // Of two arms at one endpoint each has its own: their limits may differ.
    const gate = gates.get(arm.name) ?? ArmGate.create(arm.concurrency)
    gates.set(arm.name, gate)
    return gate
  }
  return {
    async play(run, { task, arm, repeat }) {
      const job = await rolloutJob(environment, tasks, task, {
        harness,
        arm: arm.cwd === undefined ? arm : { ...arm, cwd: path.resolve(arm.cwd) },
        repeat,
        run: run.id,
        seed: run.seed,
        allowLive: run.allowLive,
        ...(run.latency === undefined ? {} : { latency: run.latency }),
        gate: gateOf(arm).memory,
        ...(harness.maxCostUsd === undefined && environment.file.simulator === undefined ? {} : { prices }),
        ...(options.cache === undefined ? {} : { cache: options.cache }),
      })
      const result = await executor.run(job)
      const { episode } = result
      const costUsd = rolloutCostUsd(episode, arm, prices)
      const judges = new Bill(prices)
      const scored = await scoreEpisode(environment.rubric, {
        episode,
        task: job.task,
        tools: environment.file.tools,
        costUsd,
        outside: outside.billedTo(judges),
      })
      return { rollout: rolloutOf(job, result, scored, { costUsd, judges: judges.total() }), episode }
    },
    async close() {
      await executor.close()
      await outside.close()
    },
  }
}

/** A rollout that broke off for reasons that are not the candidate's has no score: null, never 0. */
function rolloutOf(
  job: RolloutJob,
  result: RolloutResult,
  { scores, score }: Pick<Rollout, 'scores' | 'score'>,
  { costUsd, judges }: { costUsd: number | undefined; judges: Billed | undefined },
): Rollout {
  return {
    task: job.task.id,
    session: job.task.session,
    arm: job.arm.name,
    repeat: job.repeat,
    scores,
    score: result.error === undefined ? score : null,
    offTape: result.offTape,
    ...(result.unconsumedWrites.length === 0 ? {} : { unconsumedWrites: result.unconsumedWrites }),
    ...(result.staleReads === 0 ? {} : { staleReads: result.staleReads }),
    ...(result.simulated === undefined ? {} : { simulated: result.simulated }),
    ...(result.userTurns === undefined ? {} : { userTurns: result.userTurns }),
    ...(result.divergence === undefined ? {} : { divergence: result.divergence }),
    ...(result.untranslated === undefined ? {} : { untranslated: result.untranslated }),
    ...(result.cachedCalls === undefined ? {} : { cachedCalls: result.cachedCalls }),
    usage: result.usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(result.simulators === undefined ? {} : { simulators: result.simulators }),
    ...(judges === undefined ? {} : { judges }),
    durationMs: result.durationMs,
    ...(result.error === undefined ? {} : { error: result.error }),
    stop: result.stop,
    episode: result.episode.id,
  }
}
