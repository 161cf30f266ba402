// A span as the store keeps it: raw bodies as the truth, typed columns for questions. `normaliseSpan` makes it, `assembleEpisodes` reads it.

/** What kind of step a span is. */
export type RowKind = 'model' | 'tool' | 'io' | 'agent' | 'other'

/** Strings are '' and numbers `undefined` where the span said nothing. JSON texts are as sent. */
export interface SpanRow {
  project: string
  traceId: string
  spanId: string
  /** '' for a root. */
  parentSpanId: string
  kind: RowKind
  /** The span's name. */
  name: string
  startTimeUnixNano: bigint
  /** Never before the start: saturated, with `flags` telling. */
  endTimeUnixNano: bigint
  session: string
  user: string
  agentName: string
  agentVersion: string
  tags: Record<string, string>
  variants: Record<string, string>
  errorType: string
  errorMessage: string
  // model
  api: string
  provider: string
  model: string
  responseModel: string
  responseId: string
  finishReasons: string[]
  inputTokens?: number
  outputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
  firstChunkMs?: number
  attempt: number
  partial: boolean
  /** The request and response body in the dialect `api`. For import-only dialects: their attributes as one JSON object in `requestBody`. */
  requestBody: string
  responseBody: string
  // tool and io
  toolName: string
  callId: string
  effect: string
  /** JSON text: tool arguments, or an io read's key. */
  arguments: string
  /** JSON text: tool or io result. */
  result: string
  offTape: string
  // agent: JSON texts
  input: string
  output: string
  /** Where the episode comes from, as in `EpisodeSource`; `trace` unless the span says otherwise. */
  source: 'trace' | 'rollout' | 'import'
  sourceRef: string
  /** Where a rollout's (or an imported trial's) span belongs: run, arm, task, repeat; '' and -1 in production. */
  run: string
  arm: string
  task: string
  repeat: number
  /** What was mended on the way in, e.g. `end-before-start`. */
  flags: string[]
  /** All other attributes, as sent. */
  attributes: Record<string, string>
  resource: Record<string, string>
}

/** Feedback as the store keeps it. Idempotent by project, trace, step, name and source: the one received last wins. */
export interface FeedbackRow {
  project: string
  traceId: string
  /** Span id; '' = about the episode. */
  stepId: string
  name: string
  value: number | boolean | string
  comment: string
  source: string
  /** ISO 8601. */
  at: string
}
