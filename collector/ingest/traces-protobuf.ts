// OTLP's ExportTraceServiceRequest in protobuf. Field numbers: opentelemetry-proto v1, trace/v1/trace.proto.
import type { BinaryReader } from '@bufbuild/protobuf/wire'
import { sortSpan } from './check-span.ts'
import { eachField, emptyAttributes, hex, messageEnd, readKeyValue, type Surroundings, walkExport } from './otlp-protobuf.ts'
import type { DecodedSpans, UncheckedSpan } from './types.ts'

/** @throws Error where the bytes are not a protobuf message of this shape */
export function decodeProtobufTraces(bytes: Uint8Array): DecodedSpans {
  const decoded: DecodedSpans = { spans: [], rejected: [] }
  walkExport(bytes, (reader, end, around) => sortSpan(readSpan(reader, end, around), decoded))
  return decoded
}

function readSpan(reader: BinaryReader, end: number, { resource, scope }: Surroundings): UncheckedSpan {
  const span: UncheckedSpan = {
    traceId: '',
    spanId: '',
    parentSpanId: '',
    name: '',
    kind: 0,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 0n,
    attributes: emptyAttributes(),
    status: { code: 0 },
    events: [],
    resource,
    scope,
  }
  eachField(reader, end, (field) => {
    switch (field) {
      case 1:
        span.traceId = hex(reader.bytes())
        return true
      case 2:
        span.spanId = hex(reader.bytes())
        return true
      case 4:
        span.parentSpanId = hex(reader.bytes())
        return true
      case 5:
        span.name = reader.string()
        return true
      case 6:
        span.kind = reader.int32()
        return true
      case 7:
        span.startTimeUnixNano = BigInt(reader.fixed64())
        return true
      case 8:
        span.endTimeUnixNano = BigInt(reader.fixed64())
        return true
      case 9:
        readKeyValue(reader, messageEnd(reader), span.attributes, 0)
        return true
      case 11:
        span.events.push(readEvent(reader, messageEnd(reader)))
        return true
      case 15:
        span.status = readStatus(reader, messageEnd(reader))
        return true
      default:
        return false
    }
  })
  return span
}

function readEvent(reader: BinaryReader, end: number): UncheckedSpan['events'][number] {
  const event = { name: '', timeUnixNano: 0n, attributes: emptyAttributes() }
  eachField(reader, end, (field) => {
    if (field === 1) event.timeUnixNano = BigInt(reader.fixed64())
    else if (field === 2) event.name = reader.string()
    else if (field === 3) readKeyValue(reader, messageEnd(reader), event.attributes, 0)
    else return false
    return true
  })
  return event
}

function readStatus(reader: BinaryReader, end: number): UncheckedSpan['status'] {
  let message = ''
  let code = 0
  eachField(reader, end, (field) => {
    if (field === 2) message = reader.string()
    else if (field === 3) code = reader.int32()
    else return false
    return true
  })
  const known = code === 1 || code === 2 ? code : 0
  return message === '' ? { code: known } : { code: known, message }
}
