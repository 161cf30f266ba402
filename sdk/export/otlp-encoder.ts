// SpanRecord -> OTLP protobuf. Each span becomes a piece that is complete as a field of ScopeSpans: a batch is a head and any pieces behind it.
// Fields as in opentelemetry/proto/trace/v1/trace.proto; none is written that has its default.
// A length stands before its content, so a span is measured first; the lengths wait in one list, in the order in which they will be written.
import type { Attributes, AttributeValue, SpanRecord } from '../trace/span.ts'
import { bigVarintSize, fieldSize, ProtobufWriter, varintSize } from './protobuf-writer.ts'

/** Wire types, or-ed with the field's number << 3. */
const varintType = 0
const fixed64Type = 1
const lengthType = 2

const writer = new ProtobufWriter()
let lengths: number[] = []
let next = 0

/** The span as a field of ScopeSpans (`repeated Span spans = 2`). */
export function encodeSpan(span: SpanRecord): Buffer {
  startMeasuring()
  const message = span.status.message ?? ''
  const messageBytes = Buffer.byteLength(message)
  const statusSize = (messageBytes > 0 ? fieldSize(messageBytes) : 0) + (span.status.code === 0 ? 0 : 2)
  const nameBytes = Buffer.byteLength(span.name)
  let size = 18 + 10 + (span.parentSpanId === undefined ? 0 : 10) + fieldSize(nameBytes) + 2 + 18
  size += measureAttributes(span.attributes)
  for (const event of span.events) size += fieldSize(measureEvent(event))
  if (statusSize > 0) size += fieldSize(statusSize)

  writer.begin(fieldSize(size))
  open(2, size)
  id(1, span.traceId)
  id(2, span.spanId)
  if (span.parentSpanId !== undefined) id(4, span.parentSpanId)
  text(5, span.name, nameBytes)
  writer.varint(tag(6, varintType))
  writer.varint(span.kind)
  writer.varint(tag(7, fixed64Type))
  writer.fixed64(span.startTimeUnixNano)
  writer.varint(tag(8, fixed64Type))
  writer.fixed64(span.endTimeUnixNano)
  writeAttributes(9, span.attributes)
  for (const event of span.events) writeEvent(event)
  if (statusSize > 0) {
    open(15, statusSize)
    if (messageBytes > 0) text(2, message, messageBytes)
    if (span.status.code !== 0) {
      writer.varint(tag(3, varintType))
      writer.varint(span.status.code)
    }
  }
  return writer.bytes()
}

/** What stands before the spans of a batch: everything of `ExportTraceServiceRequest` but the pieces, whose bytes together are `piecesBytes`. */
export function encodeHead(resource: Attributes, scope: SpanRecord['scope'], piecesBytes: number): Buffer {
  startMeasuring()
  const resourceSize = measureAttributes(resource)
  const nameBytes = Buffer.byteLength(scope.name)
  const version = scope.version ?? ''
  const versionBytes = Buffer.byteLength(version)
  const scopeSize = fieldSize(nameBytes) + (versionBytes > 0 ? fieldSize(versionBytes) : 0)
  const scopeSpansSize = fieldSize(scopeSize) + piecesBytes
  const size = fieldSize(resourceSize) + fieldSize(scopeSpansSize)
  writer.begin(fieldSize(size) - piecesBytes)
  open(1, size)
  open(1, resourceSize)
  writeAttributes(1, resource)
  open(2, scopeSpansSize)
  open(1, scopeSize)
  text(1, scope.name, nameBytes)
  if (versionBytes > 0) text(2, version, versionBytes)
  return writer.bytes()
}

type SpanEvent = SpanRecord['events'][number]

function measureEvent(event: SpanEvent): number {
  const place = lengths.push(0) - 1
  const nameBytes = Buffer.byteLength(event.name)
  lengths.push(nameBytes)
  const size = 9 + fieldSize(nameBytes) + measureAttributes(event.attributes)
  lengths[place] = size
  return size
}

function writeEvent(event: SpanEvent): void {
  open(11, length())
  writer.varint(tag(1, fixed64Type))
  writer.fixed64(event.timeUnixNano)
  text(2, event.name, length())
  writeAttributes(3, event.attributes)
}

function measureAttributes(attributes: { readonly [key: string]: AttributeValue }): number {
  let size = 0
  for (const key of Object.keys(attributes)) {
    const place = lengths.push(0) - 1
    const value = measureValue(attributes[key])
    lengths[place] = value
    size += fieldSize(keyField(key).byteLength + fieldSize(value))
  }
  return size
}

function writeAttributes(field: number, attributes: { readonly [key: string]: AttributeValue }): void {
  for (const key of Object.keys(attributes)) {
    const size = length()
    const keyBytes = keyField(key)
    open(field, keyBytes.byteLength + fieldSize(size))
    writer.raw(keyBytes)
    open(2, size)
    writeValue(attributes[key])
  }
}

/** Bytes of an AnyValue's content. Puts the inner lengths that `writeValue` will ask for onto the list. */
function measureValue(value: AttributeValue | undefined): number {
  switch (typeof value) {
    case 'string': {
      const bytes = Buffer.byteLength(value)
      lengths.push(bytes)
      return fieldSize(bytes)
    }
    case 'boolean':
      return 2
    case 'number':
      if (!Number.isSafeInteger(value)) return 9
      return 1 + (value < 0 ? 10 : varintSize(value))
    case 'bigint':
      return 1 + bigVarintSize(value)
    case 'object': {
      if (value === null) return 0
      if (value instanceof Uint8Array) return fieldSize(value.byteLength)
      const place = lengths.push(0) - 1
      const inner = Array.isArray(value) ? measureItems(value) : measureAttributes(value)
      lengths[place] = inner
      return fieldSize(inner)
    }
    default:
      return 0
  }
}

function measureItems(items: readonly AttributeValue[]): number {
  let inner = 0
  for (const item of items) {
    const place = lengths.push(0) - 1
    const size = measureValue(item)
    lengths[place] = size
    inner += fieldSize(size)
  }
  return inner
}

function writeValue(value: AttributeValue | undefined): void {
  switch (typeof value) {
    case 'string':
      text(1, value, length())
      return
    case 'boolean':
      writer.varint(tag(2, varintType))
      writer.varint(value ? 1 : 0)
      return
    case 'number':
      writeNumber(value)
      return
    case 'bigint':
      writer.varint(tag(3, varintType))
      writer.bigVarint(value)
      return
    case 'object':
      if (value === null) return
      if (value instanceof Uint8Array) {
        open(7, value.byteLength)
        writer.raw(value)
      } else if (Array.isArray(value)) {
        open(5, length())
        for (const item of value) {
          open(1, length())
          writeValue(item)
        }
      } else {
        open(6, length())
        writeAttributes(1, value)
      }
      return
    default:
      return
  }
}

function writeNumber(value: number): void {
  if (!Number.isSafeInteger(value)) {
    writer.varint(tag(4, fixed64Type))
    writer.double(value)
    return
  }
  writer.varint(tag(3, varintType))
  if (value < 0) writer.bigVarint(BigInt(value))
  else writer.varint(value)
}

const keyFields = new Map<string, Buffer>()

/** The key as the field that it is in every KeyValue. Keys are few; a product's own tags may be many. */
function keyField(key: string): Buffer {
  const known = keyFields.get(key)
  if (known !== undefined) return known
  const content = Buffer.from(key)
  const head = [tag(1, lengthType)]
  let rest = content.byteLength
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80)
  const made = Buffer.concat([Buffer.from([...head, rest]), content])
  if (keyFields.size >= 500) keyFields.clear()
  keyFields.set(key, made)
  return made
}

function startMeasuring(): void {
  lengths = []
  next = 0
}

function length(): number {
  return lengths[next++] ?? 0
}

function id(field: number, hex: string): void {
  open(field, hex.length / 2)
  writer.hex(hex)
}

function open(field: number, size: number): void {
  writer.varint(tag(field, lengthType))
  writer.varint(size)
}

function text(field: number, value: string, bytes: number): void {
  open(field, bytes)
  writer.text(value, bytes)
}

function tag(field: number, type: number): number {
  return (field << 3) | type
}
