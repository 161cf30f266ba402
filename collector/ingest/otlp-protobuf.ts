// What OTLP's protobuf messages share, read in one pass: resources, scopes, attributes, and the walk over an export request. Field numbers: opentelemetry-proto v1.
import { BinaryReader, type WireType } from '@bufbuild/protobuf/wire'
import type { Attributes, AttributeValue, SpanRecord } from '@homeground/sdk/trace'

/** Nested lists and maps deeper than this are refused: each level is a call of ours. */
const deepest = 64

export interface Surroundings {
  resource: Attributes
  scope: SpanRecord['scope']
}

/**
 * Walks an ExportTraceServiceRequest or ExportLogsServiceRequest, which have one shape, and calls `read` at each span or log record.
 * @throws Error where the bytes are not a protobuf message of this shape
 */
export function walkExport(bytes: Uint8Array, read: (reader: BinaryReader, end: number, around: Surroundings) => void): void {
  const reader = readerOf(bytes)
  eachField(reader, reader.len, (field) => {
    if (field !== 1) return false
    walkResource(reader, messageEnd(reader), read)
    return true
  })
}

function walkResource(reader: BinaryReader, end: number, read: (reader: BinaryReader, end: number, around: Surroundings) => void): void {
  const resource = headOf(reader, end, () => readAttributesMessage(reader, messageEnd(reader), 1)) ?? emptyAttributes()
  eachField(reader, end, (field) => {
    if (field !== 2) return false
    const scopeEnd = messageEnd(reader)
    const scope = headOf(reader, scopeEnd, () => readScope(reader, messageEnd(reader))) ?? { name: '' }
    const around = { resource, scope }
    eachField(reader, scopeEnd, (item) => {
      if (item !== 2) return false
      read(reader, messageEnd(reader), around)
      return true
    })
    return true
  })
}

/** Field 1 of a message, wherever it stands: it comes first from every sender that we know, but protobuf promises no order. */
function headOf<T>(reader: BinaryReader, end: number, read: () => T): T | undefined {
  const start = reader.pos
  let head: T | undefined
  while (reader.pos < end && head === undefined) {
    const [field, type] = reader.tag()
    if (field === 1) head = read()
    else reader.skip(type, field)
  }
  reader.pos = start
  return head
}

function readScope(reader: BinaryReader, end: number): SpanRecord['scope'] {
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

/** A KeyValue, put into `into`. */
export function readKeyValue(reader: BinaryReader, end: number, into: Attributes, depth: number): void {
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

/** An AnyValue. */
export function readAnyValue(reader: BinaryReader, end: number, depth: number): AttributeValue {
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
function readerOf(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(bytes, (part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8'))
}

/** Lower-case hex. */
export function hex(bytes: Uint8Array): string {
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
