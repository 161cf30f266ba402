// The environment's model that stands in for tools and users: asked with instructions and data, its calls on a bill of their own.
import { dialectOf, HomegroundError, type Json } from '@homeground/sdk/trace'
import { armModel } from '../gateway/arm-model.ts'
import { Bill, type Billed } from '../rubric/bill.ts'
import { unfenced } from '../rubric/unfenced.ts'
import type { RolloutBudget } from './rollout-budget.ts'
import type { RolloutDeps, RolloutJob } from './types.ts'

export interface Simulator {
  model: string
  /** The answer's text, out of a fence that models like to put around JSON. */
  ask(instructions: string, data: Json): Promise<{ text: string } | { fault: string }>
  /** `undefined` where it was not asked. */
  billed(): Billed | undefined
}

/** @throws HomegroundError invalid-settings: it names a key that is not set */
export function openSimulator(
  job: RolloutJob,
  settings: NonNullable<RolloutJob['simulator']>,
  { deps, signal, budget }: { deps: RolloutDeps; signal: AbortSignal; budget: RolloutBudget },
): Simulator {
  const { model } = settings
  const source = armModel({ name: 'simulator', ...settings }, deps)
  const api = settings.api ?? 'openai.chat'
  const bill = new Bill(job.prices ?? {})
  return {
    model,
    billed: () => bill.total(),
    async ask(instructions, data) {
      const messages = [
        { role: 'system', parts: [{ type: 'text' as const, content: instructions }] },
        { role: 'user', parts: [{ type: 'text' as const, content: JSON.stringify(data) }] },
      ]
      const body = dialectOf(api)?.writeRequest({ model, messages, tools: [], parameters: {} }) ?? {}
      const { response, status } = await source.answer({ api, body, signal })
      if (response === undefined) return { fault: `HTTP ${status}` }
      budget.spend(model, bill.add(model, response.usage))
      const parts = response.outputs[0]?.parts ?? []
      return { text: unfenced(parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])).join('')) }
    },
  }
}

/** What ends a rollout whose simulator says nothing that can be used: a score over a made-up failure would say nothing of the candidate. */
export function simulationFailed(what: string, model: string, gave: string): HomegroundError {
  return new HomegroundError('simulation-failed', `${what} was to be simulated, and ${model} gave no result: ${gave.slice(0, 200)}`, {
    hint: "mend env.json's simulator, or choose another model for it",
  })
}
