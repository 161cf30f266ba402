// What OTLP's protobuf messages share: resources, scopes, attributes, and the walk over an export request. Field numbers: opentelemetry-proto v1.
import type { Attributes, AttributeValue, SpanRecord } from '@homeground/sdk/trace'
import { deepestAttribute, TooDeep } from './check-span.ts'
import { WireReader } from './wire-reader.ts'

/** The tag of a field: of a varint, of 8 bytes, of a text, bytes or message. A field whose wire type is another is passed over, as protobuf says. */
const varint = (field: number) => field << 3
const fixed64 = (field: number) => (field << 3) | 1
const delimited = (field: number) => (field << 3) | 2

export interface Surroundings {
  resource: Attributes
  scope: SpanRecord['scope']
}

/** Reads one span or log record, up to `end`. */
export type ReadItem = (reader: WireReader, end: number, around: Surroundings) => void

/**
 * Walks an ExportTraceServiceRequest or ExportLogsServiceRequest, which have one shape, and calls `read` at each span or log record.
 * @throws Error where the bytes are not a protobuf message of this shape
 */
export function walkExport(bytes: Uint8Array, read: ReadItem): void {
  const reader = new WireReader(bytes)
  eachMessage(reader, reader.bytes.length, 1, (end) => walkResource(reader, end, read))
}

function walkResource(reader: WireReader, end: number, read: ReadItem): void {
  const resource = headOf(reader, end, () => readAttributesMessage(reader, reader.messageEnd(), 0)) ?? emptyAttributes()
  eachMessage(reader, end, 2, (scopeEnd) => {
    const scope = headOf(reader, scopeEnd, () => readScope(reader, reader.messageEnd())) ?? { name: '' }
    const around = { resource, scope }
    eachMessage(reader, scopeEnd, 2, (itemEnd) => read(reader, itemEnd, around))
  })
}

/** Calls `read` at each nested message of this field; other fields are passed over. */
function eachMessage(reader: WireReader, end: number, field: number, read: (end: number) => void): void {
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === delimited(field)) read(reader.messageEnd())
    else reader.skip(tag)
  }
  reader.endsAt(end)
}

/** Field 1 of a message, wherever it stands: it comes first from every sender that we know, but protobuf promises no order. */
function headOf<T>(reader: WireReader, end: number, read: () => T): T | undefined {
  const start = reader.pos
  let head: T | undefined
  while (reader.pos < end && head === undefined) {
    const tag = reader.tag()
    if (tag === delimited(1)) head = read()
    else reader.skip(tag)
  }
  reader.pos = start
  return head
}

function readScope(reader: WireReader, end: number): SpanRecord['scope'] {
  let name = ''
  let version = ''
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === delimited(1)) name = reader.text()
    else if (tag === delimited(2)) version = reader.text()
    else reader.skip(tag)
  }
  reader.endsAt(end)
  return version === '' ? { name } : { name, version }
}

/** A message whose field 1 is a repeated KeyValue (Resource, KeyValueList). */
function readAttributesMessage(reader: WireReader, end: number, depth: number): Attributes {
  const attributes = emptyAttributes()
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === delimited(1)) readKeyValue(reader, attributes, depth)
    else reader.skip(tag)
  }
  reader.endsAt(end)
  return attributes
}

/** A KeyValue, from its length on, put into `into`. */
export function readKeyValue(reader: WireReader, into: Attributes, depth = 0): void {
  const end = reader.messageEnd()
  let key = ''
  let value: AttributeValue = null
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === delimited(1)) key = reader.text()
    else if (tag === delimited(2)) value = readAnyValue(reader, depth)
    else reader.skip(tag)
  }
  reader.endsAt(end)
  into[key] = value
}

/** An AnyValue, from its length on. */
export function readAnyValue(reader: WireReader, depth: number): AttributeValue {
  const end = reader.messageEnd()
  if (depth > deepestAttribute) throw new TooDeep()
  let value: AttributeValue = null
  while (reader.pos < end) {
    const tag = reader.tag()
    switch (tag) {
      case delimited(1):
        value = reader.text()
        break
      case varint(2):
        value = reader.bool()
        break
      case varint(3):
        value = reader.int64()
        break
      case fixed64(4):
        value = reader.double()
        break
      case delimited(5):
        value = readArray(reader, depth + 1)
        break
      case delimited(6):
        value = readAttributesMessage(reader, reader.messageEnd(), depth + 1)
        break
      case delimited(7):
        value = reader.copy()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.endsAt(end)
  return value
}

function readArray(reader: WireReader, depth: number): AttributeValue[] {
  const end = reader.messageEnd()
  const values: AttributeValue[] = []
  while (reader.pos < end) {
    const tag = reader.tag()
    if (tag === delimited(1)) values.push(readAnyValue(reader, depth))
    else reader.skip(tag)
  }
  reader.endsAt(end)
  return values
}

/** Without a prototype: `__proto__` is a key like any other. */
export function emptyAttributes(): Attributes {
  return Object.create(null)
}
