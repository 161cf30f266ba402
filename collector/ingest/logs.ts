// OTLP's ExportLogsServiceRequest. Homeground keeps no logs: evaluation events become feedback, all other records are taken and let go.
import type { BinaryReader } from '@bufbuild/protobuf/wire'
import type { FeedbackRow } from '@homeground/sdk/trace'
import { type EventRecord, feedbackOfEvent } from './evaluation-feedback.ts'
import { attributesOf, field, integer, type JsonObject, jsonId, list, text, walkJsonExport } from './otlp-json.ts'
import { eachField, emptyAttributes, hex, messageEnd, readKeyValue, type Surroundings, walkExport } from './otlp-protobuf.ts'
import type { Rejection } from './types.ts'

export interface DecodedLogs {
  feedback: FeedbackRow[]
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
  if (outcome.kind === 'feedback') into.feedback.push(outcome.row)
  else if (outcome.kind === 'rejected') into.rejected.push({ reason: outcome.reason })
}

/** Field numbers: logs/v1/logs.proto. */
function readRecord(reader: BinaryReader, end: number, { resource, scope }: Surroundings): EventRecord {
  const event: EventRecord = { name: '', timeUnixNano: 0n, traceId: '', spanId: '', attributes: emptyAttributes(), resource, scope }
  let observed = 0n
  eachField(reader, end, (found) => {
    if (found === 1) event.timeUnixNano = BigInt(reader.fixed64())
    else if (found === 6) readKeyValue(reader, messageEnd(reader), event.attributes, 0)
    else if (found === 9) event.traceId = hex(reader.bytes())
    else if (found === 10) event.spanId = hex(reader.bytes())
    else if (found === 11) observed = BigInt(reader.fixed64())
    else if (found === 12) event.name = reader.string()
    else return false
    return true
  })
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
