// What model calls cost, in US dollars. Unknown is `undefined`, never 0: a model without a price, a call without token counts.
import fs from 'node:fs'
import { type Episode, errorText, HomegroundError, type Usage } from '@homeground/sdk/trace'
import { z } from 'zod'
import { listPrices, type Price } from './price-table.ts'

export type Prices = Readonly<Record<string, Price>>

const price = z.number().nonnegative()
const pricesSchema = z.record(
  z.string(),
  z.strictObject({
    input: price,
    output: price,
    cacheRead: price.exactOptional(),
    cacheWrite: price.exactOptional(),
    maxInputTokens: z.int().positive().exactOptional(),
    asOf: z.string().exactOptional(),
  }),
)

/**
 * The list prices with those of a JSON file put before them: `{ "MODEL": { "input": 2.5, "output": 10, "cacheRead"?, "cacheWrite"? } }`, dollars a million tokens.
 * @default file the path in HOMEGROUND_PRICES, if set
 * @throws HomegroundError invalid-settings where the file cannot be read or is not such an object
 */
export function readPrices(file: string | undefined = process.env['HOMEGROUND_PRICES']): Prices {
  if (file === undefined || file === '') return listPrices
  const hint = 'HOMEGROUND_PRICES names a JSON file: { "MODEL": { "input": 2.5, "output": 10 } }, in US dollars a million tokens'
  let value: unknown
  try {
    value = JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch (error) {
    throw new HomegroundError('invalid-settings', `prices cannot be read from ${file}: ${errorText(error)}`, {
      hint,
      cause: error,
    })
  }
  const parsed = pricesSchema.safeParse(value)
  if (!parsed.success) throw new HomegroundError('invalid-settings', `${file}: ${z.prettifyError(parsed.error)}`, { hint })
  return { ...listPrices, ...parsed.data }
}

/** A sum in which one unknown cost makes the whole unknown. */
export function addUsd(sum: number | undefined, more: number | undefined): number | undefined {
  return sum === undefined || more === undefined ? undefined : sum + more
}

/**
 * The sum over all model calls that were answered; `undefined` if the cost of any of them is not known, or there was none. A call is priced as the model that
 * answered it, or else (an endpoint may answer under a name of its own) as the one that was asked for; with `paid`, all of them as that model.
 */
export function episodeCostUsd(episode: Episode, prices: Prices, paid?: string): number | undefined {
  let total: number | undefined
  for (const step of episode.steps) {
    if (step.kind !== 'model' || step.response === undefined) continue
    const { usage, model: answered = step.model } = step.response
    const cost =
      paid === undefined
        ? (usageCostUsd(answered, usage, prices) ?? usageCostUsd(step.model, usage, prices))
        : usageCostUsd(paid, usage, prices)
    if (cost === undefined) return undefined
    total = (total ?? 0) + cost
  }
  return total
}

/** One call's cost; or of several together, where none of them is over a price's input limit. */
export function usageCostUsd(model: string, usage: Usage, prices: Prices): number | undefined {
  const price = priceOf(model, prices)
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  if (price === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  if (price.maxInputTokens !== undefined && inputTokens > price.maxInputTokens) return undefined
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const dollars =
    plain * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output
  return dollars / 1_000_000
}

/** By the whole name; else without the provider before a slash, and without a date or `-latest` at the end. */
export function priceOf(model: string, prices: Prices): Price | undefined {
  const bare = model.replace(/^.*\//, '')
  for (const name of [model, bare, bare.replace(/-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')])
    if (Object.hasOwn(prices, name)) return prices[name]
  return undefined
}
