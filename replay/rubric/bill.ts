// What models that are not under test took, call by call: judges, and those that stand in for tools and users.
import type { Usage } from '@homeground/sdk/trace'
import { z } from 'zod'
import { addUsd, type Prices, usageCostUsd } from './cost.ts'

export const usageSchema = z.strictObject({
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  cacheReadTokens: z.number().exactOptional(),
  cacheWriteTokens: z.number().exactOptional(),
  reasoningTokens: z.number().exactOptional(),
})

export const billedSchema = z.strictObject({
  /** Calls that were answered. */
  calls: z.int().positive(),
  usage: usageSchema,
  /** Absent where the cost of any call is not known. */
  costUsd: z.number().exactOptional(),
})
export type Billed = z.infer<typeof billedSchema>

export class Bill {
  readonly #prices: Prices
  readonly #usage: Usage = {}
  #calls = 0
  #costUsd: number | undefined = 0

  constructor(prices: Prices) {
    this.#prices = prices
  }

  /** Returns what the call cost; `undefined` where that is not known. */
  add(model: string, usage: Usage): number | undefined {
    const cost = usageCostUsd(model, usage, this.#prices)
    this.#calls += 1
    addUsage(this.#usage, usage)
    this.#costUsd = addUsd(this.#costUsd, cost)
    return cost
  }

  /** `undefined` where nobody was asked. */
  total(): Billed | undefined {
    if (this.#calls === 0) return undefined
    return { calls: this.#calls, usage: { ...this.#usage }, ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }) }
  }
}

/** Adds to `sum`; what no call said stays absent. */
export function addUsage(sum: Usage, usage: Usage): void {
  for (const name of ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const) {
    const tokens = usage[name]
    if (tokens !== undefined) sum[name] = (sum[name] ?? 0) + tokens
  }
}

/** Calls of the test's own models, and dollars; `undefined` once a call of unknown cost was among them. */
export interface Asked {
  calls: number
  usd: number | undefined
}

export function nobodyAsked(): Asked {
  return { calls: 0, usd: 0 }
}

/** `more`: absent where nobody was asked. */
export function addAsked(asked: Asked, more: { calls: number; costUsd?: number } | undefined): void {
  if (more === undefined) return
  asked.calls += more.calls
  asked.usd = addUsd(asked.usd, more.costUsd)
}
