// OTLP's ExportLogsServiceRequest. Homeground keeps no logs: evaluation events become feedback, message events rows under their call, all other records are taken and let go.
import { type AttributeValue, evaluation, type SpanRow } from '@homeground/sdk/trace'
import { type EventFeedback, type EventRecord, feedbackOfEvent } from './evaluation-feedback.ts'
import { messageEventRows } from './message-event-rows.ts'
import { anyValue, asObject, attributesOf, field, integer, type JsonObject, jsonId, list, text, walkJsonExport } from './otlp-json.ts'
import { emptyAttributes, readAnyValue, readKeyValue, type Surroundings, walkExport } from './otlp-protobuf.ts'
import type { Rejection } from './types.ts'
import type { WireReader } from './wire-reader.ts'

/** Tags as they stand on the wire: field number x 8 + wire type. logs/v1/logs.proto. */
const recordTag = { time: 9, body: 42, attribute: 50, traceId: 74, spanId: 82, observed: 89, eventName: 98 } as const

export interface DecodedLogs {
  rows: SpanRow[]
  feedback: EventFeedback[]
  rejected: Rejection[]
}

/** @throws Error where the bytes are not a protobuf message of this shape */
export function decodeProtobufLogs(bytes: Uint8Array): DecodedLogs {
  const events: EventRecord[] = []
  walkExport(bytes, (reader, end, around) => events.push(readRecord(reader, end, around)))
  return sorted(events, [])
}

/** @throws Error where the text is no JSON object of this shape */
export function decodeJsonLogs(json: string): DecodedLogs {
  const events: EventRecord[] = []
  const rejected: Rejection[] = []
  walkJsonExport(json, 'logRecords', (record, around) => {
    try {
      events.push(readJsonRecord(asObject(record), around))
    } catch (error) {
      rejected.push({ reason: error instanceof Error ? error.message : 'a field has the wrong type' })
    }
  })
  return sorted(events, rejected)
}

function sorted(events: readonly EventRecord[], unread: readonly Rejection[]): DecodedLogs {
  const { rows, rejected } = messageEventRows(events)
  const decoded: DecodedLogs = { rows, feedback: [], rejected: [...unread, ...rejected] }
  for (const event of events) {
    const outcome = feedbackOfEvent(event)
    if (outcome.kind === 'feedback') decoded.feedback.push(outcome.said)
    else if (outcome.kind === 'rejected') decoded.rejected.push({ reason: outcome.reason })
  }
  return decoded
}

/** Log records named their event in an attribute before they had a field for it. */
function nameOf(event: EventRecord): string {
  const { [evaluation.legacyEventName]: named } = event.attributes
  return event.name || (typeof named === 'string' ? named : '')
}

function readRecord(reader: WireReader, end: number, { resource, scope }: Surroundings): EventRecord {
  const event: EventRecord = { name: '', timeUnixNano: 0n, traceId: '', spanId: '', attributes: emptyAttributes(), resource, scope }
  let observed = 0n
  let body: AttributeValue | undefined
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === recordTag.time) event.timeUnixNano = reader.fixed64()
    else if (tag === recordTag.body) body = readAnyValue(reader, 0)
    else if (tag === recordTag.attribute) readKeyValue(reader, event.attributes)
    else if (tag === recordTag.traceId) event.traceId = reader.hex()
    else if (tag === recordTag.spanId) event.spanId = reader.hex()
    else if (tag === recordTag.observed) observed = reader.fixed64()
    else if (tag === recordTag.eventName) event.name = reader.text()
    else reader.skip(tag)
  }
  reader.endsAt(end)
  if (event.timeUnixNano === 0n) event.timeUnixNano = observed
  return { ...event, name: nameOf(event), ...(body === undefined ? {} : { body }) }
}

function readJsonRecord(record: JsonObject, { resource, scope }: Surroundings): EventRecord {
  const body = field(record, 'body')
  const event: EventRecord = {
    name: text(field(record, 'eventName')),
    timeUnixNano: integer(field(record, 'timeUnixNano')) || integer(field(record, 'observedTimeUnixNano')),
    traceId: jsonId(field(record, 'traceId'), 16),
    spanId: jsonId(field(record, 'spanId'), 8),
    attributes: attributesOf(list(record, 'attributes')),
    ...(body === undefined || body === null ? {} : { body: anyValue(body, 0) }),
    resource,
    scope,
  }
  return { ...event, name: nameOf(event) }
}
