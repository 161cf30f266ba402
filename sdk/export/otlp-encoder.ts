// SpanRecord -> OTLP protobuf in one pass. Each span becomes a piece that is complete as a field of ScopeSpans: a batch is a head and any pieces behind it.
// Fields as in opentelemetry/proto/trace/v1/trace.proto; none is written that has its default.
import type { Attributes, AttributeValue, SpanRecord } from '../trace/span.ts'
import { fieldSize, ProtobufWriter, varintSize } from './protobuf-writer.ts'

/** Wire types, or-ed with the field's number << 3. */
const varintType = 0
const fixed64Type = 1
const lengthType = 2

const writer = new ProtobufWriter()

/** The span as a field of ScopeSpans (`repeated Span spans = 2`). */
export function encodeSpan(span: SpanRecord): Buffer {
  const attributes = Object.entries(span.attributes).map(([key, value]) => measure(key, value))
  const events = span.events.map((event) => {
    const measured = Object.entries(event.attributes).map(([key, value]) => measure(key, value))
    const nameBytes = Buffer.byteLength(event.name)
    return { event, measured, nameBytes, size: 9 + fieldSize(nameBytes) + sizeOf(measured) }
  })
  const nameBytes = Buffer.byteLength(span.name)
  const message = span.status.message ?? ''
  const messageBytes = Buffer.byteLength(message)
  const statusSize = (messageBytes > 0 ? fieldSize(messageBytes) : 0) + (span.status.code === 0 ? 0 : 2)
  const size =
    18 +
    10 +
    (span.parentSpanId === undefined ? 0 : 10) +
    fieldSize(nameBytes) +
    2 +
    18 +
    sizeOf(attributes) +
    events.reduce((sum, each) => sum + fieldSize(each.size), 0) +
    (statusSize > 0 ? fieldSize(statusSize) : 0)

  writer.reset()
  open(2, size)
  writer.varint(tag(1, lengthType))
  writer.varint(16)
  writer.hex(span.traceId)
  writer.varint(tag(2, lengthType))
  writer.varint(8)
  writer.hex(span.spanId)
  if (span.parentSpanId !== undefined) {
    writer.varint(tag(4, lengthType))
    writer.varint(8)
    writer.hex(span.parentSpanId)
  }
  text(5, span.name, nameBytes)
  writer.varint(tag(6, varintType))
  writer.varint(span.kind)
  writer.varint(tag(7, fixed64Type))
  writer.fixed64(span.startTimeUnixNano)
  writer.varint(tag(8, fixed64Type))
  writer.fixed64(span.endTimeUnixNano)
  for (const attribute of attributes) writeKeyValue(9, attribute)
  for (const { event, measured, nameBytes: bytes, size: eventSize } of events) {
    open(11, eventSize)
    writer.varint(tag(1, fixed64Type))
    writer.fixed64(event.timeUnixNano)
    text(2, event.name, bytes)
    for (const attribute of measured) writeKeyValue(3, attribute)
  }
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
  const attributes = Object.entries(resource).map(([key, value]) => measure(key, value))
  const resourceSize = sizeOf(attributes)
  const nameBytes = Buffer.byteLength(scope.name)
  const version = scope.version ?? ''
  const versionBytes = Buffer.byteLength(version)
  const scopeSize = fieldSize(nameBytes) + (versionBytes > 0 ? fieldSize(versionBytes) : 0)
  const scopeSpansSize = fieldSize(scopeSize) + piecesBytes
  writer.reset()
  open(1, fieldSize(resourceSize) + fieldSize(scopeSpansSize))
  open(1, resourceSize)
  for (const attribute of attributes) writeKeyValue(1, attribute)
  open(2, scopeSpansSize)
  open(1, scopeSize)
  text(1, scope.name, nameBytes)
  if (versionBytes > 0) text(2, version, versionBytes)
  return writer.bytes()
}

/** An attribute with the sizes that its nested messages need before they are written. */
interface Measured {
  key: string
  keyBytes: number
  value: MeasuredValue
  size: number
}
type MeasuredValue =
  | { kind: 'text'; value: string; bytes: number; size: number }
  | { kind: 'boolean'; value: boolean; size: 2 }
  | { kind: 'integer'; value: bigint; size: number }
  | { kind: 'double'; value: number; size: 9 }
  | { kind: 'bytes'; value: Uint8Array; size: number }
  | { kind: 'list'; items: MeasuredValue[]; inner: number; size: number }
  | { kind: 'map'; entries: Measured[]; inner: number; size: number }
  | { kind: 'nothing'; size: 0 }

function measure(key: string, value: AttributeValue): Measured {
  const keyBytes = Buffer.byteLength(key)
  const measured = measureValue(value)
  return { key, keyBytes, value: measured, size: fieldSize(keyBytes) + fieldSize(measured.size) }
}

function measureValue(value: AttributeValue): MeasuredValue {
  switch (typeof value) {
    case 'string': {
      const bytes = Buffer.byteLength(value)
      return { kind: 'text', value, bytes, size: fieldSize(bytes) }
    }
    case 'boolean':
      return { kind: 'boolean', value, size: 2 }
    case 'number':
      return Number.isSafeInteger(value) ? integer(BigInt(value)) : { kind: 'double', value, size: 9 }
    case 'bigint':
      return integer(value)
    case 'object': {
      if (value === null) return { kind: 'nothing', size: 0 }
      if (value instanceof Uint8Array) return { kind: 'bytes', value, size: fieldSize(value.byteLength) }
      if (Array.isArray(value)) {
        const items = value.map(measureValue)
        const inner = items.reduce((sum, item) => sum + fieldSize(item.size), 0)
        return { kind: 'list', items, inner, size: fieldSize(inner) }
      }
      const entries = Object.entries(value).map(([key, member]) => measure(key, member))
      const inner = sizeOf(entries)
      return { kind: 'map', entries, inner, size: fieldSize(inner) }
    }
  }
}

function integer(value: bigint): MeasuredValue {
  return { kind: 'integer', value, size: 1 + (value < 0n ? 10 : varintSize(Number(value))) }
}

function sizeOf(attributes: readonly Measured[]): number {
  let sum = 0
  for (const attribute of attributes) sum += fieldSize(attribute.size)
  return sum
}

function writeKeyValue(field: number, attribute: Measured): void {
  open(field, attribute.size)
  text(1, attribute.key, attribute.keyBytes)
  open(2, attribute.value.size)
  writeValue(attribute.value)
}

function writeValue(measured: MeasuredValue): void {
  switch (measured.kind) {
    case 'text':
      text(1, measured.value, measured.bytes)
      return
    case 'boolean':
      writer.varint(tag(2, varintType))
      writer.varint(measured.value ? 1 : 0)
      return
    case 'integer':
      writer.varint(tag(3, varintType))
      writer.bigVarint(measured.value)
      return
    case 'double':
      writer.varint(tag(4, fixed64Type))
      writer.double(measured.value)
      return
    case 'list':
      open(5, measured.inner)
      for (const item of measured.items) {
        open(1, item.size)
        writeValue(item)
      }
      return
    case 'map':
      open(6, measured.inner)
      for (const entry of measured.entries) writeKeyValue(1, entry)
      return
    case 'bytes':
      open(7, measured.value.byteLength)
      writer.raw(measured.value)
      return
    case 'nothing':
      return
  }
}

function open(field: number, length: number): void {
  writer.varint(tag(field, lengthType))
  writer.varint(length)
}

function text(field: number, value: string, bytes: number): void {
  open(field, bytes)
  writer.text(value, bytes)
}

function tag(field: number, type: number): number {
  return (field << 3) | type
}
