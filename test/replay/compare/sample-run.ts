// Runs for comparison tests, in memory: rollouts made by a function of task, arm and repeat.
import type { Episode } from '@homeground/sdk/trace'
import type { Rollout, Run } from '../../../replay/run/types.ts'

export interface SampleRunOptions {
  arms?: string[]
  tasks?: number
  repeats?: number
  /** Tasks of one session. */
  sessionSize?: number
  /** Rollouts that are planned but not there yet. */
  missing?: number
  margin?: number
  rollout: (place: { task: number; arm: string; repeat: number }) => Partial<Rollout>
  episode?: (rollout: Rollout) => Episode
}

export function sampleRun(options: SampleRunOptions): Run {
  const { arms = ['a', 'b'], tasks = 20, repeats = 1, sessionSize = 1, missing = 0 } = options
  const rollouts: Rollout[] = []
  for (let task = 0; task < tasks; task++)
    for (const arm of arms)
      for (let repeat = 0; repeat < repeats; repeat++) {
        const made = options.rollout({ task, arm, repeat })
        const score = made.score === undefined ? 1 : made.score
        rollouts.push({
          task: `task-${task}`,
          session: `session-${Math.floor(task / sessionSize)}`,
          arm,
          repeat,
          scores: { right: { value: score, weight: 1, reason: 'it is so' } },
          offTape: { count: 0 },
          usage: { inputTokens: 100, outputTokens: 10 },
          costUsd: 0.01,
          durationMs: 1000,
          stop: 'done',
          episode: `${task}-${arm}-${repeat}`,
          ...made,
          score,
        })
      }
  const there = rollouts.slice(0, rollouts.length - missing)
  return {
    folder: '/nowhere',
    file: {
      format: 1,
      id: 'run-1',
      environment: { name: 'sample', folder: '/nowhere/env', hash: 'f'.repeat(64) },
      arms: arms.map((name) => ({ name, model: `model-${name}` })),
      harness: { kind: 'loop', maxSteps: 50 },
      tasks: Array.from({ length: tasks }, (_, task) => `task-${task}`),
      repeats,
      seed: 1,
      margin: options.margin ?? 0.05,
      startedAt: '2026-01-01T00:00:00.000Z',
      versions: { homeground: '0.1.0' },
    },
    async *rollouts() {
      yield* there
    },
    async *episodes() {
      if (options.episode) for (const rollout of there) yield options.episode(rollout)
    },
    size: { planned: rollouts.length, done: there.length },
  }
}
