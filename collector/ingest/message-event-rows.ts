// Log records that hold a call's messages become rows of kind `other` under the call's span: whoever reads the trace finds them, whichever came first.
import { emptyRow, isMessageEvent, messageEventFields, projectOf, type SpanRow, sha256Hex, textOf } from '@homeground/sdk/trace'
import { longestProject } from './check-span.ts'
import type { EventRecord } from './evaluation-feedback.ts'
import type { Rejection } from './types.ts'

/** Rows of the records among `events` that are message events. A record that is sent again becomes the same row. */
export function messageEventRows(events: readonly EventRecord[]): { rows: SpanRow[]; rejected: Rejection[] } {
  const rows: SpanRow[] = []
  const rejected: Rejection[] = []
  const counts = new Map<string, number>()
  for (const event of events) {
    if (!isMessageEvent(event.name)) continue
    if (!/^(?!0{32})[0-9a-f]{32}$/.test(event.traceId) || !/^(?!0{16})[0-9a-f]{16}$/.test(event.spanId)) {
      rejected.push({ reason: `${event.name} needs the trace id and the span id of its call` })
      continue
    }
    const row = rowOf(event, counts)
    if (row.project.length > longestProject) rejected.push({ reason: `the project's name is longer than ${longestProject} characters` })
    else rows.push(row)
  }
  return { rows, rejected }
}

function rowOf(event: EventRecord, counts: Map<string, number>): SpanRow {
  const call = event.traceId + event.spanId
  const count = counts.get(call) ?? 0
  counts.set(call, count + 1)
  const said = JSON.stringify(messageEventFields(event.attributes, event.body))
  const row = emptyRow()
  row.project = projectOf(event.resource)
  row.traceId = event.traceId
  // The count first: events of one call bear the same millisecond, and their order is the conversation's.
  row.spanId = (count % 0xffff).toString(16).padStart(4, '0') + sha256Hex(`${call}${event.name}${event.timeUnixNano}${said}`).slice(0, 12)
  row.parentSpanId = event.spanId
  row.name = event.name
  row.startTimeUnixNano = event.timeUnixNano
  row.endTimeUnixNano = event.timeUnixNano
  row.requestBody = said
  row.resource = Object.fromEntries(Object.entries(event.resource).map(([name, value]) => [name.toWellFormed(), textOf(value)]))
  return row
}
