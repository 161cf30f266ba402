// What OTLP's JSON messages share. Lenient where senders differ: ids in hex or base64, 64-bit integers as strings or numbers, snake_case names.
import type { Attributes, AttributeValue, SpanRecord } from '@homeground/sdk/trace'
import { z } from 'zod'
import { deepestAttribute, TooDeep } from './check-span.ts'
import { emptyAttributes, type Surroundings } from './otlp-protobuf.ts'
import { plainInteger } from './wire-reader.ts'

const object = z.record(z.string(), z.unknown())
export type JsonObject = z.infer<typeof object>

/**
 * Walks an export request and calls `read` at each span or log record, or what stands in its place.
 * @throws Error where the text is no JSON object of this shape
 */
export function walkJsonExport(text: string, what: 'spans' | 'logRecords', read: (item: unknown, around: Surroundings) => void): void {
  const [outer, inner] = what === 'spans' ? ['resourceSpans', 'scopeSpans'] : ['resourceLogs', 'scopeLogs']
  for (const ofResource of list(parseJsonObject(text), outer)) {
    const resource = attributesOf(list(asObject(field(ofResource, 'resource') ?? {}), 'attributes'))
    for (const ofScope of list(ofResource, inner)) {
      const scope = scopeOf(field(ofScope, 'scope'))
      for (const item of anyList(ofScope, what)) read(item, { resource, scope })
    }
  }
}

/** JSON whose long integers keep all their digits: OTLP writes them as strings, but not every sender does. @throws Error where it is no JSON object */
function parseJsonObject(text: string): JsonObject {
  // Within a JSON string the quotes before the colon would be escaped, so content is never touched. A number with a fraction or an exponent is a double already.
  const exact = /\d{16}/.test(text)
    ? text.replace(/("(?:[A-Za-z]*TimeUnixNano|[a-z_]*time_unix_nano|intValue|int_value)"\s*:\s*)(-?\d{16,})(?![\d.eE])/g, '$1"$2"')
    : text
  return asObject(JSON.parse(exact))
}

/** Lower-case hex of an id in hex (the spec) or base64 (plain protobuf-to-JSON writers); '' for anything else. */
export function jsonId(value: unknown, bytes: number): string {
  if (typeof value !== 'string' || value === '') return ''
  if (value.length === bytes * 2 && /^[0-9a-fA-F]+$/.test(value)) return value.toLowerCase()
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(value) ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  return decoded.length === bytes && value.length === Math.ceil(bytes / 3) * 4 ? decoded.toString('hex') : ''
}

/** A list of KeyValue. */
export function attributesOf(list: readonly JsonObject[], depth = 0): Attributes {
  const attributes = emptyAttributes()
  for (const pair of list) attributes[text(pair['key'])] = anyValue(pair['value'], depth)
  return attributes
}

/** An AnyValue. */
export function anyValue(value: unknown, depth: number): AttributeValue {
  if (depth > deepestAttribute) throw new TooDeep()
  if (value === undefined || value === null) return null
  const any = asObject(value)
  for (const [name, held] of Object.entries(any)) {
    switch (name) {
      case 'stringValue':
      case 'string_value':
        return text(held)
      case 'boolValue':
      case 'bool_value':
        return held === true || held === 'true'
      case 'intValue':
      case 'int_value':
        return plainInteger(integer(held))
      case 'doubleValue':
      case 'double_value':
        return Number(held)
      case 'arrayValue':
      case 'array_value':
        return list(asObject(held), 'values').map((inner) => anyValue(inner, depth + 1))
      case 'kvlistValue':
      case 'kvlist_value':
        return attributesOf(list(asObject(held), 'values'), depth + 1)
      case 'bytesValue':
      case 'bytes_value':
        return Uint8Array.from(Buffer.from(text(held), 'base64'))
    }
  }
  return null
}

function scopeOf(value: unknown): SpanRecord['scope'] {
  const scope = asObject(value ?? {})
  const [name, version] = [text(scope['name']), text(scope['version'])]
  return version === '' ? { name } : { name, version }
}

/** An integer as string, number or double. */
export function integer(value: unknown): bigint {
  if (value === undefined || value === null || value === '') return 0n
  if (typeof value === 'number' && Number.isFinite(value)) return BigInt(Math.round(value))
  if (typeof value === 'string' && /^-?\d{1,25}$/.test(value)) return BigInt(value)
  throw new Error('an integer field holds no integer')
}

/** The field under its camelCase name, or its snake_case one. */
export function field(from: JsonObject, name: string): unknown {
  return from[name] ?? from[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

/** A repeated message field. */
export function list(from: JsonObject, name: string): JsonObject[] {
  return anyList(from, name).map(asObject)
}

function anyList(from: JsonObject, name: string): unknown[] {
  const value = field(from, name)
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error(`${name} is not a list`)
  return value
}

export function text(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new Error('a text field holds no text')
  return value
}

export function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('expected a JSON object')
  return value as JsonObject
}
