// Keeps what the SDK recorded in memory, for tests: no collector, no network.
import type { Exporter, FeedbackRecord } from '../export/types.ts'
import type { SpanRecord } from '../trace/span.ts'

/** `homeground({ project, exporter: new MemoryExporter() })`; call `await hg.flush()` before looking. */
export class MemoryExporter implements Exporter {
  /** In the order in which they ended. */
  readonly spans: SpanRecord[] = []
  readonly feedback: FeedbackRecord[] = []

  export(spans: readonly SpanRecord[]): void {
    this.spans.push(...spans)
  }

  exportFeedback(feedback: readonly FeedbackRecord[]): void {
    this.feedback.push(...feedback)
  }

  /** Forgets everything. */
  reset(): void {
    this.spans.length = 0
    this.feedback.length = 0
  }
}
