// From a decoded request to rows: each span is normalised by itself, so that one that cannot be read costs nobody else.
import { normaliseSpan, type SpanRow } from '@homeground/sdk/trace'
import { longestProject } from './check-span.ts'
import { type EventFeedback, feedbackOfEvent } from './evaluation-feedback.ts'
import type { DecodedSpans, Rejection } from './types.ts'

/** Rows of the good spans, feedback from the evaluation events on them, and all refusals. */
export function rowsOf(decoded: DecodedSpans): { rows: SpanRow[]; feedback: EventFeedback[]; rejected: Rejection[] } {
  const rows: SpanRow[] = []
  const feedback: EventFeedback[] = []
  const rejected = [...decoded.rejected]
  for (const span of decoded.spans) {
    try {
      const row = normaliseSpan(span)
      if (row.project.length > longestProject) {
        rejected.push({ reason: `the project's name is longer than ${longestProject} characters` })
        continue
      }
      rows.push(row)
    } catch {
      rejected.push({ reason: 'the span cannot be read' })
      continue
    }
    for (const event of span.events) {
      const outcome = feedbackOfEvent({ ...event, traceId: span.traceId, spanId: span.spanId, resource: span.resource, scope: span.scope })
      if (outcome.kind === 'feedback') feedback.push(outcome.said)
    }
  }
  return { rows, feedback, rejected }
}

/** The reasons with their counts, for the sender's log: `4 refused: span id is not 8 bytes other than zero (3), …`. */
export function rejectionMessage(rejected: readonly Rejection[]): string {
  const counts = new Map<string, number>()
  for (const { reason } of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return `${rejected.length} refused: ${[...counts].map(([reason, count]) => `${reason} (${count})`).join(', ')}`
}
