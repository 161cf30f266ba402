// What a run's judges and simulator will be asked, and cost: taken from the recordings, as if each were judged, and its simulated tools called and its user heard as they were.
import { canonicalJson, type Episode, type ModelCall } from '@homeground/sdk/trace'
import { conversationOf } from '../environment/conversation.ts'
import { turnStarts } from '../environment/tape-entries.ts'
import type { Environment, Task } from '../environment/types.ts'
import { shownCalls } from '../harness/tool-simulator.ts'
import { type Prices, usageCostUsd } from '../rubric/cost.ts'
import { type PreferenceQuestion, preferenceTexts } from '../rubric/judge/preference.ts'
import { question } from '../rubric/judge/question.ts'

export interface OthersEstimate {
  calls: number
  inputTokens: number
  outputTokens: number
  /** Absent where a model has no price. */
  costUsd?: number
}

/** Of a verdict with its reason, and of what a tool or user says: a guess. */
const answerTokens = 150

/** Of text that has not been counted. */
const charactersPerToken = 4

export class Others {
  readonly #prices: Prices
  readonly #asked: { model: string; inputTokens: number }[] = []

  constructor(prices: Prices) {
    this.#prices = prices
  }

  /** `calls`: those that the task plays again. */
  addJudges({ rubric }: Environment, task: Task, recording: Episode, calls: readonly ModelCall[]): void {
    const ids = new Set(calls.map(({ id }) => id))
    const episode = { ...recording, steps: recording.steps.filter((step) => step.kind !== 'model' || ids.has(step.id)) }
    for (const criterion of rubric.criteria) {
      if (criterion.type !== 'judge') continue
      const { system, user } = question(criterion, { episode, task }, 0)
      const models = typeof criterion.model === 'string' ? [criterion.model] : criterion.model
      for (const model of models)
        for (let repeat = 0; repeat < criterion.repeats; repeat += 1) this.#ask(model, system.length + user.length)
    }
  }

  addSimulator({ file }: Environment, recording: Episode, harness: string): void {
    if (file.simulator === undefined) return
    const { model } = file.simulator
    const tools = recording.steps.flatMap((step) => (step.kind === 'tool' ? [step] : []))
    for (const tool of tools) {
      if (file.tools[tool.name]?.mode !== 'simulate') continue
      const shown = tools.filter(({ name }) => name === tool.name).slice(0, shownCalls)
      this.#ask(
        model,
        shown.reduce((sum, { arguments: args, result }) => sum + canonicalJson([args, result ?? null]).length, 500),
      )
    }
    if (file.user.mode !== 'simulate' || harness !== 'loop') return
    const conversation = conversationOf(recording)
    const text = JSON.stringify(
      conversation?.calls.at(-1)?.request.messages.filter(({ role }) => role !== 'system' && role !== 'tool') ?? [],
    )
    for (let turn = 0; turn < turnStarts(conversation).size; turn += 1) this.#ask(model, 1_000 + text.length)
  }

  /** Both orders. */
  addPreference(asked: PreferenceQuestion, first: Episode, second: Episode): void {
    const { system, user } = preferenceTexts(asked, first, second)
    for (let order = 0; order < 2; order += 1) this.#ask(asked.model, system.length + user.length)
  }

  /** Each added recording stands for `scale` rollouts. `undefined` where nobody is asked. */
  estimate(scale: number): OthersEstimate | undefined {
    if (this.#asked.length === 0) return undefined
    const costs = this.#asked.map(({ model, inputTokens }) =>
      usageCostUsd(model, { inputTokens, outputTokens: answerTokens }, this.#prices),
    )
    const known = costs.flatMap((cost) => (cost === undefined ? [] : [cost]))
    return {
      calls: Math.round(this.#asked.length * scale),
      inputTokens: Math.round(this.#asked.reduce((sum, { inputTokens }) => sum + inputTokens, 0) * scale),
      outputTokens: Math.round(this.#asked.length * answerTokens * scale),
      ...(known.length === costs.length ? { costUsd: known.reduce((sum, cost) => sum + cost, 0) * scale } : {}),
    }
  }

  #ask(model: string, characters: number): void {
    this.#asked.push({ model, inputTokens: Math.ceil(characters / charactersPerToken) })
  }
}
