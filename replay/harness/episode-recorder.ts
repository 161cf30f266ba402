// Records a rollout whose model and tool calls pass through our own hands: the harnesses `loop`, `turn` and `command`. A product with the SDK records itself.
import type { Episode, Json, ModelCall, Step, StepError, ToolCall } from '@homeground/sdk/trace'
import type { RolloutJob } from './types.ts'

export interface RecorderDeps {
  now(): number
  monotonicMs(): number
  ids: { trace: string; span(): string }
}

export class EpisodeRecorder {
  readonly #job: RolloutJob
  readonly #deps: RecorderDeps
  readonly #steps: Step[] = []
  readonly #startedAt: string
  readonly #startedMs: number

  constructor(job: RolloutJob, deps: RecorderDeps) {
    this.#job = job
    this.#deps = deps
    this.#startedAt = new Date(deps.now()).toISOString()
    this.#startedMs = deps.monotonicMs()
  }

  /** Call it when a step begins; hand what it gave to `model` or `tool` when it has ended. */
  begin(): { id: string; startedAt: string; startedMs: number } {
    return { id: this.#deps.ids.span(), startedAt: new Date(this.#deps.now()).toISOString(), startedMs: this.#deps.monotonicMs() }
  }

  model(begun: ReturnType<EpisodeRecorder['begin']>, call: Omit<ModelCall, 'kind' | 'id' | 'startedAt' | 'durationMs'>): void {
    this.#steps.push({ kind: 'model', ...this.#base(begun), ...call })
  }

  tool(begun: ReturnType<EpisodeRecorder['begin']>, call: Omit<ToolCall, 'kind' | 'id' | 'startedAt' | 'durationMs'>): void {
    this.#steps.push({ kind: 'tool', ...this.#base(begun), ...call })
  }

  episode(end: { output?: Json; error?: StepError } = {}): Episode {
    const { task, arm, run, repeat, project } = this.#job
    return {
      format: 1,
      id: this.#deps.ids.trace,
      trace: this.#deps.ids.trace,
      project,
      session: task.session,
      tags: { ...task.tags },
      startedAt: this.#startedAt,
      durationMs: rounded(this.#deps.monotonicMs() - this.#startedMs),
      ...(task.input === undefined ? {} : { input: task.input }),
      ...end,
      steps: this.#steps,
      feedback: [],
      source: { kind: 'rollout', run, arm: arm.name, task: task.id, repeat },
    }
  }

  #base(begun: ReturnType<EpisodeRecorder['begin']>): { id: string; startedAt: string; durationMs: number } {
    return { id: begun.id, startedAt: begun.startedAt, durationMs: rounded(this.#deps.monotonicMs() - begun.startedMs) }
  }
}

/** Microseconds are enough, and digits beyond them are noise. */
export function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
