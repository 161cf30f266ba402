// What the SDK has done so far, in numbers.

/** Counters since `homeground()`; the queue's two are what it holds now. */
export interface Stats {
  /** Spans that ended and were handed on. */
  spans: number
  /** Spans that have begun and not ended. */
  openSpans: number
  /** Spans and feedback of episodes that `sample` left out. */
  unsampled: number
  /** Accepted by the collector, or taken by the exporter. */
  exported: number
  /** Left out because the queue was full. */
  dropped: number
  /** Refused by the collector one by one. */
  rejected: number
  /** Requests to the collector, or calls of the exporter, that failed. */
  exportErrors: number
  /** Requests that the collector refused for good; the spans in them are sent in smaller ones, or counted as rejected. */
  refusals: number
  /** Faults of our own that were swallowed. */
  internalErrors: number
  queuedSpans: number
  queuedBytes: number
  /** Feedback that waits for the collector or the exporter. */
  queuedFeedback: number
  /** Feedback that the collector or the exporter took. */
  exportedFeedback: number
  /** Feedback that could not be delivered, or that named no trace outside a run. */
  droppedFeedback: number
}

export function noStats(): Stats {
  return {
    spans: 0,
    openSpans: 0,
    unsampled: 0,
    exported: 0,
    dropped: 0,
    rejected: 0,
    exportErrors: 0,
    refusals: 0,
    internalErrors: 0,
    queuedSpans: 0,
    queuedBytes: 0,
    queuedFeedback: 0,
    exportedFeedback: 0,
    droppedFeedback: 0,
  }
}
