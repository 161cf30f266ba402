// What the rest of Homeground may ask of the store. One implementation, on ClickHouse.
import type { Episode, FeedbackRow, SpanRow } from '@homeground/sdk/trace'

/** A row with the time it was received, its version. Without it the time of the insert counts. */
export interface ReceivedSpanRow extends SpanRow {
  /** Microseconds since the epoch. */
  receivedAt?: bigint
}

/** As `ReceivedSpanRow`. */
export interface ReceivedFeedbackRow extends FeedbackRow {
  /** Microseconds since the epoch. */
  receivedAt?: bigint
}

export interface Store {
  /** Brings the schema forward; idempotent. @throws HomegroundError store-newer */
  migrate(): Promise<void>
  /** Resolves when the rows are durable. A row sent again replaces the earlier one. @throws HomegroundError store-unavailable (retryable) */
  insertSpans(rows: readonly ReceivedSpanRow[]): Promise<void>
  insertFeedback(rows: readonly ReceivedFeedbackRow[]): Promise<void>
  /** Streams whole episodes in order of start; memory holds a page of traces at a time. */
  episodes(query: EpisodeQuery): AsyncIterable<Episode>
  /** The episode with this id, or all of the trace with this id. Empty where there is none. */
  episode(project: string, idOrTrace: string): Promise<Episode[]>
  /** Traces whose id begins so, ten at most, by id. @default every project */
  tracesBeginning(prefix: string, project?: string): Promise<{ project: string; trace: string }[]>
  /** One line an episode, newest first; reads no body. */
  traces(query: EpisodeQuery): Promise<TraceSummary[]>
  /** The span rows of these traces, in start order. */
  spans(project: string, traceIds: readonly string[]): Promise<SpanRow[]>
  /** Feedback about these traces, by time. */
  feedback(project: string, traceIds: readonly string[]): Promise<FeedbackRow[]>
  /** Every project that has a span or feedback. */
  projects(): Promise<{ project: string }[]>
  counts(project?: string): Promise<{ project: string; episodes: number; modelCalls: number; toolCalls: number }[]>
  /** What `erase` would take away. @throws HomegroundError invalid-argument: not exactly one subject */
  erasable(what: Erasure): Promise<ErasureResult>
  /** Takes all traces of the subject off the disk, with their feedback. A span that is sent again later comes back. */
  erase(what: Erasure): Promise<ErasureResult>
  /** Rows of the project older than so many days go away by themselves; `undefined`: they stay. */
  setRetention(project: string, days: number | undefined): Promise<void>
  retentions(): Promise<{ project: string; days: number }[]>
  /** Remembers which traces an environment was built from, so that an erasure can name it. */
  registerEnvironment(environment: RegisteredEnvironment & { project: string; builtAt: string; traces: readonly string[] }): Promise<void>
  /** US dollars a million tokens, for the cost view; a model's newest price counts. */
  setPrices(
    prices: readonly { model: string; input: number; output: number; cacheRead: number; cacheWrite: number; asOf: string }[],
  ): Promise<void>
  /** Whether the store answers now. */
  ping(): Promise<boolean>
  /** Gives up the connection, and this user's share of the embedded engine. `stop`: ends the engine too if nobody else uses it. @default { stop: false } */
  close(options?: { stop?: boolean }): Promise<void>
}

/** Exactly one of user, session, trace and traces. */
export interface Erasure {
  project: string
  user?: string
  session?: string
  trace?: string
  traces?: readonly string[]
}

export interface ErasureResult {
  traces: string[]
  spans: number
  feedback: number
  /** Folders that were built from these traces and still hold them. */
  environments: RegisteredEnvironment[]
}

export interface RegisteredEnvironment {
  name: string
  hash: string
  folder: string
}

/** All conditions hold together. */
export interface EpisodeQuery {
  project: string
  agent?: string
  model?: string
  session?: string
  user?: string
  tool?: string
  tags?: Record<string, string>
  /** Has feedback of this name, and, where given, this value. */
  feedback?: { name: string; value?: number | boolean | string }
  source?: 'trace' | 'rollout' | 'import'
  run?: string
  /** ISO 8601; episodes that started at or after it. */
  from?: string
  /** ISO 8601; episodes that started before it. */
  to?: string
  /** @default no limit for `episodes`, 50 for `traces` */
  limit?: number
}

export interface TraceSummary {
  trace: string
  startedAt: string
  durationMs: number
  agent: string
  session: string
  modelCalls: number
  toolCalls: number
  models: string[]
  inputTokens: number
  outputTokens: number
  errors: number
  /** The first characters of the agent's input and output, or of the first prompt and last answer. */
  inputPreview: string
  outputPreview: string
}
