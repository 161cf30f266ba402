// OTLP's ExportTraceServiceRequest in protobuf, read in one pass into span records. Field numbers: opentelemetry-proto v1, trace/v1/trace.proto.
import { BinaryReader, type WireType } from '@bufbuild/protobuf/wire'
import type { Attributes, AttributeValue } from '@homeground/sdk/trace'
import { sortSpan } from './check-span.ts'
import type { DecodedSpans, UncheckedSpan } from './types.ts'

/** Nested lists and maps deeper than this are refused: each level is a call of ours. */
const deepest = 64

/** @throws Error where the bytes are not a protobuf message of this shape */
export function decodeProtobufTraces(bytes: Uint8Array): DecodedSpans {
  const decoded: DecodedSpans = { spans: [], rejected: [] }
  const reader = readerOf(bytes)
  eachField(reader, reader.len, (field) => {
    if (field !== 1) return false
    readResourceSpans(reader, messageEnd(reader), decoded)
    return true
  })
  return decoded
}

function readResourceSpans(reader: BinaryReader, end: number, decoded: DecodedSpans): void {
  const start = reader.pos
  let resource: Attributes = {}
  // The resource comes first from every sender we know, but protobuf promises no order: one look for it, then the spans.
  eachField(reader, end, (field) => {
    if (field !== 1) return false
    resource = readAttributesMessage(reader, messageEnd(reader), 1)
    return true
  })
  reader.pos = start
  eachField(reader, end, (field) => {
    if (field !== 2) return false
    readScopeSpans(reader, messageEnd(reader), resource, decoded)
    return true
  })
}

function readScopeSpans(reader: BinaryReader, end: number, resource: Attributes, decoded: DecodedSpans): void {
  const start = reader.pos
  let scope: UncheckedSpan['scope'] = { name: '' }
  eachField(reader, end, (field) => {
    if (field !== 1) return false
    scope = readScope(reader, messageEnd(reader))
    return true
  })
  reader.pos = start
  eachField(reader, end, (field) => {
    if (field !== 2) return false
    sortSpan(readSpan(reader, messageEnd(reader), resource, scope), decoded)
    return true
  })
}

function readScope(reader: BinaryReader, end: number): UncheckedSpan['scope'] {
  let name = ''
  let version = ''
  eachField(reader, end, (field) => {
    if (field === 1) name = reader.string()
    else if (field === 2) version = reader.string()
    else return false
    return true
  })
  return version === '' ? { name } : { name, version }
}

function readSpan(reader: BinaryReader, end: number, resource: Attributes, scope: UncheckedSpan['scope']): UncheckedSpan {
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

/** A message whose field `field` is a repeated KeyValue (Resource, KeyValueList). */
function readAttributesMessage(reader: BinaryReader, end: number, field: number, depth = 0): Attributes {
  const attributes = emptyAttributes()
  eachField(reader, end, (found) => {
    if (found !== field) return false
    readKeyValue(reader, messageEnd(reader), attributes, depth)
    return true
  })
  return attributes
}

function readKeyValue(reader: BinaryReader, end: number, into: Attributes, depth: number): void {
  let key = ''
  let value: AttributeValue = null
  eachField(reader, end, (field) => {
    if (field === 1) key = reader.string()
    else if (field === 2) value = readAnyValue(reader, messageEnd(reader), depth)
    else return false
    return true
  })
  into[key] = value
}

function readAnyValue(reader: BinaryReader, end: number, depth: number): AttributeValue {
  if (depth > deepest) throw new Error('attribute values are nested too deeply')
  let value: AttributeValue = null
  eachField(reader, end, (field) => {
    switch (field) {
      case 1:
        value = reader.string()
        return true
      case 2:
        value = reader.bool()
        return true
      case 3:
        value = plainInteger(BigInt(reader.int64()))
        return true
      case 4:
        value = reader.double()
        return true
      case 5:
        value = readArray(reader, messageEnd(reader), depth + 1)
        return true
      case 6:
        value = readAttributesMessage(reader, messageEnd(reader), 1, depth + 1)
        return true
      case 7:
        value = Uint8Array.from(reader.bytes())
        return true
      default:
        return false
    }
  })
  return value
}

function readArray(reader: BinaryReader, end: number, depth: number): AttributeValue[] {
  const values: AttributeValue[] = []
  eachField(reader, end, (field) => {
    if (field !== 1) return false
    values.push(readAnyValue(reader, messageEnd(reader), depth))
    return true
  })
  return values
}

/** Calls `read` for each field until `end`; a field that it does not read is skipped. @throws where a field runs over the end */
export function eachField(reader: BinaryReader, end: number, read: (field: number) => boolean): void {
  while (reader.pos < end) {
    const [field, type]: [number, WireType] = reader.tag()
    if (!read(field)) reader.skip(type, field)
  }
  if (reader.pos !== end) throw new Error('a field runs over the end of its message')
}

/** Reads the length of a nested message: where it ends. */
export function messageEnd(reader: BinaryReader): number {
  const end = reader.uint32() + reader.pos
  if (end > reader.len) throw new Error('a message runs over the end of the body')
  return end
}

/** A reader whose strings are decoded by Buffer, several times faster than TextDecoder on short ones; broken UTF-8 becomes U+FFFD. */
export function readerOf(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(bytes, (part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8'))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Without a prototype: `__proto__` is a key like any other. */
export function emptyAttributes(): Attributes {
  return Object.create(null)
}

/** A number where it is exact, else the bigint. */
export function plainInteger(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
