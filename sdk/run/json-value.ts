// Turns whatever a product passes around (cycles, BigInt, buffers, errors, maps, hostile getters, gigabytes) into JSON: within bounds to record it, whole where
// the product or its model gets it. Never throws.
import { types } from 'node:util'
import type { Json } from '../trace/episode.ts'
import { isError } from '../trace/thrown.ts'
import { nodeCrypto } from './late-modules.ts'

interface Limits {
  /** Of text, and members of objects and lists, that one value may have; what is beyond is said to be left out. */
  characters: number
  members: number
  depth: number
  /** Binary data up to this size is kept as base64, larger as its digest. */
  blobBytes: number
}

const recorded: Limits = { characters: 4 * 1024 * 1024, members: 200_000, depth: 100, blobBytes: 64 * 1024 }
const unlimited = Number.POSITIVE_INFINITY
const whole: Limits = { characters: unlimited, members: unlimited, depth: unlimited, blobBytes: unlimited }

/** A snapshot of `value` to record; `undefined` stays undefined. `toJSON` is honoured, as `JSON.stringify` does. */
export function jsonValue(value: unknown): Json | undefined {
  return new Snapshot(recorded).of(value, 0, '')
}

/** The snapshot as JSON text; `undefined` where there is nothing to record. */
export function jsonText(value: unknown): string | undefined {
  const snapshot = jsonValue(value)
  return snapshot === undefined ? undefined : JSON.stringify(snapshot)
}

/** All of `value`, for the product and its model. */
export function wholeValue(value: unknown): Json | undefined {
  try {
    return new Snapshot(whole).of(value, 0, '')
  } catch {
    return deepValue(value)
  }
}

/** All of `value` as JSON text. */
export function wholeText(value: unknown): string | undefined {
  const snapshot = wholeValue(value)
  return snapshot === undefined ? undefined : JSON.stringify(snapshot)
}

/** The engine goes deeper than code can; past that the bounds hold. */
function deepValue(value: unknown): Json | undefined {
  try {
    const given: Json = JSON.parse(JSON.stringify(value))
    return given
  } catch {
    return jsonValue(value)
  }
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith('Maximum call stack')
}

/** JSON text of what is JSON already, within the same bounds. */
export function boundedText(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= recorded.characters ? text : JSON.stringify(jsonValue(value) ?? null)
}

class Snapshot {
  private readonly limits: Limits
  private characters: number
  private members: number
  private readonly path = new Set<object>()

  constructor(limits: Limits) {
    this.limits = limits
    this.characters = limits.characters
    this.members = limits.members
  }

  /** `key` is where it stands; `converted` what its `toJSON` gave, which is not asked again. */
  of(value: unknown, depth: number, key: string | number, converted = false): Json | undefined {
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
        return typeof value === 'object' && value !== null ? this.object(value, depth, key, converted) : null
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

  private object(value: object, depth: number, key: string | number, converted: boolean): Json | undefined {
    if (this.path.has(value)) return '[circular]'
    if (depth >= this.limits.depth || this.members <= 0) return '[left out]'
    this.path.add(value)
    try {
      return this.entered(value, depth, key, converted)
    } catch (error) {
      if (this.limits === whole && isTooDeep(error)) throw error
      return unreadable(error)
    } finally {
      this.path.delete(value)
    }
  }

  private entered(value: object, depth: number, key: string | number, converted: boolean): Json | undefined {
    if (ArrayBuffer.isView(value)) return this.blob(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    if (types.isAnyArrayBuffer(value)) return this.blob(new Uint8Array(value))
    if (!converted && 'toJSON' in value && typeof value.toJSON === 'function') {
      const given: unknown = value.toJSON(String(key))
      if (given !== value) return this.of(given, depth + 1, key, true)
    }
    if (Array.isArray(value)) return this.list(value, depth)
    if (isError(value)) return this.record([['name', value.name], ['message', value.message], ...Object.entries(value)], depth)
    if (types.isMap(value)) return this.map(value, depth)
    if (types.isSet(value)) return this.list([...value], depth)
    if (types.isRegExp(value)) return this.text(String(value))
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return this.of(value.valueOf(), depth, key)
    return this.record(Object.keys(value), depth, value)
  }

  private list(values: readonly unknown[], depth: number): Json[] {
    const list: Json[] = []
    for (const [index, each] of values.entries()) {
      if (this.members-- <= 0) {
        list.push(`[${values.length - index} more]`)
        break
      }
      list.push(this.of(each, depth + 1, index) ?? null)
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
      const each = this.of(value, depth + 1, key)
      if (each === undefined) continue
      const name = this.text(key)
      // An assignment to __proto__ would set the prototype instead of a member; the other way takes ten times as long.
      if (name === '__proto__') Object.defineProperty(record, name, { value: each, enumerable: true, configurable: true, writable: true })
      else record[name] = each
    }
    return record
  }

  private read(source: object | undefined, key: string): unknown {
    try {
      return source === undefined ? undefined : Reflect.get(source, key)
    } catch (error) {
      return unreadable(error)
    }
  }

  private blob(bytes: Uint8Array): Json {
    if (bytes.byteLength <= this.limits.blobBytes) return { type: 'blob', base64: Buffer.from(bytes).toString('base64') }
    return { type: 'blob', bytes: bytes.byteLength, sha256: nodeCrypto().createHash('sha256').update(bytes).digest('hex') }
  }
}

/** The product's getters throw anything, proxies that cannot be looked at too. */
function unreadable(error: unknown): string {
  try {
    return `[unreadable: ${isError(error) ? error.name : typeof error}]`
  } catch {
    return '[unreadable]'
  }
}
