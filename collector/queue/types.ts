// Where accepted rows go. Two real implementations: direct (into the store) and kafka.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'

export interface Queue {
  /** Resolves when the rows are durable. `bytes`: what they weigh, about. @throws HomegroundError store-unavailable (retryable) */
  publishSpans(rows: readonly SpanRow[], bytes: number): Promise<void>
  publishFeedback(rows: readonly FeedbackRow[]): Promise<void>
  /** Whether it would take rows now. */
  ready(): Promise<boolean>
  /** Resolves when all that was published is durable or has failed. */
  close(): Promise<void>
}
