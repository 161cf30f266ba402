// From a decoded request to rows: each span is normalised by itself, so that one that cannot be read costs nobody else.
import { normaliseSpan, type SpanRow } from '@homeground/sdk/trace'
import type { DecodedSpans, Rejection } from './types.ts'

/** Rows of the good spans, and all refusals. */
export function rowsOf(decoded: DecodedSpans): { rows: SpanRow[]; rejected: Rejection[] } {
  const rows: SpanRow[] = []
  const rejected = [...decoded.rejected]
  for (const span of decoded.spans) {
    try {
      rows.push(normaliseSpan(span))
    } catch {
      rejected.push({ reason: 'the span cannot be read' })
    }
  }
  return { rows, rejected }
}

/** The reasons with their counts, for the sender's log: `4 refused: span id is not 8 bytes other than zero (3), …`. */
export function rejectionMessage(rejected: readonly Rejection[]): string {
  const counts = new Map<string, number>()
  for (const { reason } of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return `${rejected.length} refused: ${[...counts].map(([reason, count]) => `${reason} (${count})`).join(', ')}`
}
