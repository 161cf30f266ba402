// Where recorded spans go. Users may bring their own exporter; ours sends OTLP over HTTP.
import type { SpanRecord } from '../trace/span.ts'

/** Called off the product's path, in batches. What it throws or rejects with is counted (`stats().exportErrors`), never shown to the product. */
export interface Exporter {
  /** Whole spans, each once. */
  export(spans: readonly SpanRecord[]): void | Promise<void>
  /** Without it feedback is dropped and counted. */
  exportFeedback?(feedback: readonly FeedbackRecord[]): void | Promise<void>
  /** Resolves when all that `export` took is where it belongs. */
  flush?(): Promise<void>
  shutdown?(): Promise<void>
}

/** What somebody thought of an episode or of one step of it. */
export interface FeedbackRecord {
  project: string
  /** 32 hex. */
  traceId: string
  /** Span id, 16 hex; absent = about the episode. */
  stepId?: string
  name: string
  value: number | boolean | string
  comment?: string
  /** Who said it. @default 'user' */
  source: string
  /** ISO 8601. */
  at: string
}
