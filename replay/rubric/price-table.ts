// Published list prices, each with the day they were read. They go stale: a file of your own (HOMEGROUND_PRICES) goes before them, and a model that is not here has no cost, never 0.

/** US dollars a million tokens. */
export interface Price {
  input: number
  output: number
  /** Input served from the provider's cache. @default input */
  cacheRead?: number
  /** Input written to the provider's cache. @default input */
  cacheWrite?: number
  /** Requests with more input tokens have another price, which is not kept here: their cost is not known. */
  maxInputTokens?: number
  /** The day the price was read, ISO 8601. */
  asOf?: string
}

/** By the model's name without date. Sources: the providers' price pages; batch, priority and regional prices differ. */
export const listPrices: Readonly<Record<string, Price>> = {
  'gpt-4o': { input: 2.5, cacheRead: 1.25, output: 10, asOf: '2026-05-07' },
  'gpt-4o-mini': { input: 0.15, cacheRead: 0.075, output: 0.6, asOf: '2026-05-07' },
  'gpt-4.1': { input: 2, cacheRead: 0.5, output: 8, asOf: '2026-05-07' },
  'gpt-4.1-mini': { input: 0.4, cacheRead: 0.1, output: 1.6, asOf: '2026-05-07' },
  'gpt-4.1-nano': { input: 0.1, cacheRead: 0.025, output: 0.4, asOf: '2026-05-07' },
  'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10, asOf: '2026-05-07' },
  'gpt-5-mini': { input: 0.25, cacheRead: 0.025, output: 2, asOf: '2026-11-05' },
  'gpt-5.4': { input: 2.5, cacheRead: 0.25, output: 15, maxInputTokens: 272_000, asOf: '2026-11-05' },
  'gpt-5.4-mini': { input: 0.75, cacheRead: 0.075, output: 4.5, asOf: '2026-11-05' },
  'gpt-5.4-nano': { input: 0.2, cacheRead: 0.02, output: 1.25, asOf: '2026-11-05' },
  'gpt-5.5': { input: 5, cacheRead: 0.5, output: 30, maxInputTokens: 272_000, asOf: '2026-11-05' },
  'claude-haiku-4-5': { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5, asOf: '2026-11-05' },
  'claude-haiku-5-5': { input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, output: 0.5, maxInputTokens: 100_000, asOf: '2026-10-24' },
  'claude-sonnet-4': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, asOf: '2026-11-05' },
  'claude-sonnet-4-5': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, asOf: '2026-11-05' },
  'claude-sonnet-4-6': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, asOf: '2026-11-05' },
  'claude-sonnet-5': { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10, asOf: '2026-11-05' },
  'claude-sonnet-5-5': { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10, asOf: '2026-10-24' },
  'claude-opus-4-5': { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-05' },
  'claude-opus-4-6': { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-05' },
  'claude-opus-4-7': { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-05' },
  'claude-opus-4-8': { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-05' },
  'claude-opus-5': { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-05' },
  'claude-opus-5-5': { input: 4, cacheRead: 0.2, cacheWrite: 5, output: 20, asOf: '2026-10-24' },
}
