// Where accepted rows go. Two real implementations: direct (into the store) and kafka.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'
import type { Metric } from '../http/metrics.ts'

export interface Queue {
  /** Resolves when the rows are durable. `bytes`: what they weigh, about. @throws HomegroundError store-unavailable, queue-unavailable (retryable) */
  publishSpans(rows: readonly SpanRow[], bytes: number): Promise<void>
  publishFeedback(rows: readonly FeedbackRow[]): Promise<void>
  /** Whether it would take rows now. */
  ready(): Promise<boolean>
  /** Numbers for GET /metrics. Never throws: what cannot be had is left out. */
  metrics?(): Promise<readonly Metric[]>
  /** Resolves when all that was published is durable or has failed. */
  close(): Promise<void>
}
