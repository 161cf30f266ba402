// The seam: what replay takes hold of. `capture`, `tool()`, `io()` and `variant()` ask it first; nothing else in the product knows that it is being replayed.
import type { Effect, Json } from '../trace/episode.ts'

/**
 * Answers of a replay. Every method may be missing: then the product's own code runs.
 * Called once a call, in the order the product makes them; may throw (a recorded error), which the product sees as its own.
 */
export interface Seam {
  /** A model call, as the HTTP request that the client was about to send; gives the response that the client gets. */
  model?(request: SeamModelRequest): Promise<Response>
  /** A tool call; `live` runs the product's own function. */
  tool?(call: SeamToolCall): Promise<Json | undefined>
  /** A read that the model did not ask for. */
  io?(read: SeamIoRead): Promise<Json | undefined>
  /** The value of a variant under test; `undefined` = the product's default. `isText`: that is a text, and so are the recorded values, which spans have as text. */
  variant?(name: string, isText?: boolean): Json | undefined
  /** Milliseconds since the epoch. */
  now?(): number
  /** In [0, 1). */
  random?(): number
}

/** A model call, as a replay is asked for it. */
export interface SeamModelRequest {
  url: string
  method: string
  headers: Headers
  /** The body's text, where it is text. */
  body: string | undefined
  /** The dialect, where the path tells. */
  api: string | undefined
  signal: AbortSignal | undefined
  /** Names of the agents it runs under, outermost first: the last is the lane. */
  agents: readonly string[]
  /** Sends it as the product would have. */
  live(): Promise<Response>
}

/** A tool call, as a replay is asked for it. */
export interface SeamToolCall {
  name: string
  /** As the model sent them, before schema defaults and transforms. */
  arguments: Json
  callId: string | undefined
  effect: Effect
  agents: readonly string[]
  /** Set by the seam before it answers or throws: how the call left the tape. The tool's span carries it. */
  offTape?: string
  live(): Promise<Json | undefined>
}

/** A read of `hg.io`, as a replay is asked for it. */
export interface SeamIoRead {
  name: string
  key: Json | undefined
  agents: readonly string[]
  live(): Promise<Json | undefined>
}

/** What the spans of a rollout carry, and where they go. */
export interface SeamState {
  /** Tags, session, run, arm, task, repeat that every span of the rollout carries. */
  attributes: Readonly<Record<string, string | number | boolean>>
  /** 32 hex: the rollout's trace. @default a random one */
  readonly traceId?: string
  /** 16 hex: the next span's id, so that a rollout with a seed has the same ids again. @default a random one */
  spanId?(): string
  /** Where the spans of this rollout go instead of the product's exporter. */
  record(span: import('../trace/span.ts').SpanRecord): void
}
