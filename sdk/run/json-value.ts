// Turns whatever a product passes around (cycles, BigInt, buffers, errors, maps, hostile getters, gigabytes) into JSON that can be recorded. Never throws.
import type { Json } from '../trace/episode.ts'
import { nodeCrypto } from './late-modules.ts'

/** Characters of text and members of objects and lists that one value may have; what is beyond is said to be left out. */
const characterLimit = 4 * 1024 * 1024
const memberLimit = 200_000
const depthLimit = 100
/** Binary data up to this size is kept as base64, larger as its digest. */
const blobLimit = 64 * 1024

/** A snapshot of `value`; `undefined` stays undefined. `toJSON` is honoured, as `JSON.stringify` does. */
export function jsonValue(value: unknown): Json | undefined {
  return new Snapshot().of(value, 0)
}

/** The snapshot as JSON text; `undefined` where there is nothing to record. */
export function jsonText(value: unknown): string | undefined {
  const snapshot = jsonValue(value)
  return snapshot === undefined ? undefined : JSON.stringify(snapshot)
}

/** JSON text of what is JSON already, within the same bounds. */
export function boundedText(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= characterLimit ? text : JSON.stringify(jsonValue(value) ?? null)
}

class Snapshot {
  private characters = characterLimit
  private members = memberLimit
  private readonly path = new Set<object>()

  of(value: unknown, depth: number): Json | undefined {
    switch (typeof value) {
      case 'string':
        return this.text(value)
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) ? value : String(value)
      case 'bigint':
        return this.text(value.toString())
      case 'undefined':
        return undefined
      case 'symbol':
        return this.text(value.toString())
      case 'function':
        return this.called(value)
      default:
        return typeof value === 'object' && value !== null ? this.object(value, depth) : null
    }
  }

  /** A function, or a proxy of one. */
  private called(value: object): string {
    try {
      return `[function ${this.text(String(Reflect.get(value, 'name')))}]`
    } catch {
      return '[function]'
    }
  }

  private text(value: string): string {
    if (value.length <= this.characters) {
      this.characters -= value.length
      return value
    }
    const kept = value.slice(0, Math.max(0, this.characters))
    this.characters = 0
    return `${kept}[${value.length - kept.length} more characters]`
  }

  private object(value: object, depth: number): Json | undefined {
    if (this.path.has(value)) return '[circular]'
    if (depth >= depthLimit || this.members <= 0) return '[left out]'
    this.path.add(value)
    try {
      return this.entered(value, depth)
    } catch (error) {
      return `[unreadable: ${error instanceof Error ? error.name : typeof error}]`
    } finally {
      this.path.delete(value)
    }
  }

  private entered(value: object, depth: number): Json | undefined {
    if (Array.isArray(value)) return this.list(value, depth)
    if (ArrayBuffer.isView(value)) return blob(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return blob(new Uint8Array(value))
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.of(value.toJSON(), depth + 1)
    if (value instanceof Error) return this.record([['name', value.name], ['message', value.message], ...Object.entries(value)], depth)
    if (value instanceof Map) return this.map(value, depth)
    if (value instanceof Set) return this.list([...value], depth)
    if (value instanceof RegExp) return this.text(String(value))
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return this.of(value.valueOf(), depth)
    return this.record(Object.keys(value), depth, value)
  }

  private list(values: readonly unknown[], depth: number): Json[] {
    const list: Json[] = []
    for (const [index, each] of values.entries()) {
      if (this.members-- <= 0) {
        list.push(`[${values.length - index} more]`)
        break
      }
      list.push(this.of(each, depth + 1) ?? null)
    }
    return list
  }

  private map(map: Map<unknown, unknown>, depth: number): Json {
    const entries = [...map]
    if (entries.every(([key]) => typeof key === 'string'))
      return this.record(
        entries.map(([key, each]): [string, unknown] => [String(key), each]),
        depth,
      )
    return this.list(entries, depth)
  }

  /** Members from pairs, or read one by one from `source`, so that a getter that throws costs only itself. */
  private record(members: readonly (string | [string, unknown])[], depth: number, source?: object): Json {
    const record: { [key: string]: Json } = {}
    for (const member of members) {
      const [key, value] = typeof member === 'string' ? [member, this.read(source, member)] : member
      if (this.members-- <= 0) {
        record['[left out]'] = members.length
        break
      }
      const each = this.of(value, depth + 1)
      // A plain assignment to __proto__ would set the prototype instead of a member.
      if (each !== undefined)
        Object.defineProperty(record, this.text(key), { value: each, enumerable: true, configurable: true, writable: true })
    }
    return record
  }

  private read(source: object | undefined, key: string): unknown {
    try {
      return source === undefined ? undefined : Reflect.get(source, key)
    } catch (error) {
      return `[unreadable: ${error instanceof Error ? error.name : typeof error}]`
    }
  }
}

function blob(bytes: Uint8Array): Json {
  if (bytes.byteLength <= blobLimit) return { type: 'blob', base64: Buffer.from(bytes).toString('base64') }
  return { type: 'blob', bytes: bytes.byteLength, sha256: nodeCrypto().createHash('sha256').update(bytes).digest('hex') }
}
