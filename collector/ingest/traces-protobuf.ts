// OTLP's ExportTraceServiceRequest in protobuf. Field numbers: opentelemetry-proto v1, trace/v1/trace.proto.
import { sortSpan, TooDeep } from './check-span.ts'
import { emptyAttributes, readKeyValue, type Surroundings, walkExport } from './otlp-protobuf.ts'
import type { DecodedSpans, UncheckedSpan } from './types.ts'
import type { WireReader } from './wire-reader.ts'

/** Tags as they stand on the wire: field number x 8 + wire type. */
const spanTag = {
  traceId: 10,
  spanId: 18,
  parentSpanId: 34,
  name: 42,
  kind: 48,
  start: 57,
  end: 65,
  attribute: 74,
  event: 90,
  status: 122,
} as const
const eventTag = { time: 9, name: 18, attribute: 26 } as const
const statusTag = { message: 18, code: 24 } as const

/** @throws Error where the bytes are not a protobuf message of this shape */
export function decodeProtobufTraces(bytes: Uint8Array): DecodedSpans {
  const decoded: DecodedSpans = { spans: [], rejected: [] }
  walkExport(bytes, (reader, end, around) => {
    try {
      sortSpan(readSpan(reader, end, around), decoded)
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error
      decoded.rejected.push({ reason: error.message })
      reader.pos = end
    }
  })
  return decoded
}

function readSpan(reader: WireReader, end: number, { resource, scope }: Surroundings): UncheckedSpan {
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
  while (reader.pos < end) {
    const tag = reader.tag()
    switch (tag) {
      case spanTag.traceId:
        span.traceId = reader.hex()
        break
      case spanTag.spanId:
        span.spanId = reader.hex()
        break
      case spanTag.parentSpanId:
        span.parentSpanId = reader.hex()
        break
      case spanTag.name:
        span.name = reader.text()
        break
      case spanTag.kind:
        span.kind = reader.int32()
        break
      case spanTag.start:
        span.startTimeUnixNano = reader.fixed64()
        break
      case spanTag.end:
        span.endTimeUnixNano = reader.fixed64()
        break
      case spanTag.attribute:
        readKeyValue(reader, span.attributes)
        break
      case spanTag.event:
        span.events.push(readEvent(reader))
        break
      case spanTag.status:
        span.status = readStatus(reader)
        break
      default:
        reader.skip(tag)
    }
  }
  reader.endsAt(end)
  return span
}

function readEvent(reader: WireReader): UncheckedSpan['events'][number] {
  const end = reader.messageEnd()
  const event = { name: '', timeUnixNano: 0n, attributes: emptyAttributes() }
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === eventTag.time) event.timeUnixNano = reader.fixed64()
    else if (tag === eventTag.name) event.name = reader.text()
    else if (tag === eventTag.attribute) readKeyValue(reader, event.attributes)
    else reader.skip(tag)
  }
  reader.endsAt(end)
  return event
}

function readStatus(reader: WireReader): UncheckedSpan['status'] {
  const end = reader.messageEnd()
  let message = ''
  let code = 0
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === statusTag.message) message = reader.text()
    else if (tag === statusTag.code) code = reader.int32()
    else reader.skip(tag)
  }
  reader.endsAt(end)
  const known = code === 1 || code === 2 ? code : 0
  return message === '' ? { code: known } : { code: known, message }
}
