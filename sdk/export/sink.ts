// Where the recorder puts finished spans: the OTLP queue, or the user's exporter.
import type { SpanRecord } from '../trace/span.ts'
import type { FeedbackRecord } from './types.ts'

export interface SpanSink {
  /** Takes a finished span; full means counted and dropped. Never throws, never blocks. */
  add(span: SpanRecord): void
  addFeedback(feedback: FeedbackRecord): void
  /** Resolves true when everything that was added before is delivered, false when the time is over first. Never rejects. */
  flush(timeoutMs: number): Promise<boolean>
  /** Flushes, then takes nothing more. */
  shutdown(timeoutMs: number): Promise<void>
}
