// What a request's body becomes before anything is stored.
import type { SpanRecord } from '@homeground/sdk/trace'

/** Spans in the order sent, and what was refused, each with its reason. */
export interface DecodedSpans {
  spans: SpanRecord[]
  rejected: Rejection[]
}

export interface Rejection {
  /** Never holds content of the span. */
  reason: string
}

/** A span whose fields have been read but not checked. Ids are hex, or what stood in their place. */
export interface UncheckedSpan extends Omit<SpanRecord, 'parentSpanId'> {
  parentSpanId: string
}
