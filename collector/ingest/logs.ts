// OTLP's ExportLogsServiceRequest. Homeground keeps no logs: evaluation events become feedback, all other records are taken and let go.
import { type EventFeedback, type EventRecord, feedbackOfEvent } from './evaluation-feedback.ts'
import { attributesOf, field, integer, type JsonObject, jsonId, list, text, walkJsonExport } from './otlp-json.ts'
import { emptyAttributes, readKeyValue, type Surroundings, walkExport } from './otlp-protobuf.ts'
import type { Rejection } from './types.ts'
import type { WireReader } from './wire-reader.ts'

/** Tags as they stand on the wire: field number x 8 + wire type. logs/v1/logs.proto. */
const recordTag = { time: 9, attribute: 50, traceId: 74, spanId: 82, observed: 89, eventName: 98 } as const

export interface DecodedLogs {
  feedback: EventFeedback[]
  rejected: Rejection[]
}

/** @throws Error where the bytes are not a protobuf message of this shape */
export function decodeProtobufLogs(bytes: Uint8Array): DecodedLogs {
  const decoded: DecodedLogs = { feedback: [], rejected: [] }
  walkExport(bytes, (reader, end, around) => sort(readRecord(reader, end, around), decoded))
  return decoded
}

/** @throws Error where the text is no JSON object of this shape */
export function decodeJsonLogs(json: string): DecodedLogs {
  const decoded: DecodedLogs = { feedback: [], rejected: [] }
  walkJsonExport(json, 'logRecords', (record, around) => {
    let event: EventRecord
    try {
      event = readJsonRecord(record, around)
    } catch (error) {
      decoded.rejected.push({ reason: error instanceof Error ? error.message : 'a field has the wrong type' })
      return
    }
    sort(event, decoded)
  })
  return decoded
}

function sort(event: EventRecord, into: DecodedLogs): void {
  const outcome = feedbackOfEvent(event)
  if (outcome.kind === 'feedback') into.feedback.push(outcome.said)
  else if (outcome.kind === 'rejected') into.rejected.push({ reason: outcome.reason })
}

function readRecord(reader: WireReader, end: number, { resource, scope }: Surroundings): EventRecord {
  const event: EventRecord = { name: '', timeUnixNano: 0n, traceId: '', spanId: '', attributes: emptyAttributes(), resource, scope }
  let observed = 0n
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === recordTag.time) event.timeUnixNano = reader.fixed64()
    else if (tag === recordTag.attribute) readKeyValue(reader, event.attributes)
    else if (tag === recordTag.traceId) event.traceId = reader.hex()
    else if (tag === recordTag.spanId) event.spanId = reader.hex()
    else if (tag === recordTag.observed) observed = reader.fixed64()
    else if (tag === recordTag.eventName) event.name = reader.text()
    else reader.skip(tag)
  }
  reader.endsAt(end)
  if (event.timeUnixNano === 0n) event.timeUnixNano = observed
  return event
}

function readJsonRecord(record: JsonObject, { resource, scope }: Surroundings): EventRecord {
  return {
    name: text(field(record, 'eventName')),
    timeUnixNano: integer(field(record, 'timeUnixNano')) || integer(field(record, 'observedTimeUnixNano')),
    traceId: jsonId(field(record, 'traceId'), 16),
    spanId: jsonId(field(record, 'spanId'), 8),
    attributes: attributesOf(list(record, 'attributes')),
    resource,
    scope,
  }
}
