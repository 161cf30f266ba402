// A span's attributes, taken one by one: what nobody took is left for the row's `attributes`. Values become the text that rows keep.
import { genAiAliases } from './attributes.ts'
import type { Json } from './episode.ts'
import type { Attributes, AttributeValue } from './span.ts'

const none: readonly string[] = []
const aliases = new Map(Object.entries(genAiAliases))

export class SpanAttributes {
  private readonly given: Attributes
  private readonly names: readonly string[]
  private readonly taken = new Set<string>()

  constructor(given: Attributes) {
    this.given = given
    this.names = Object.keys(given)
  }

  /** The value under this name or one of its aliases; all of them count as taken. */
  value(name: string): AttributeValue | undefined {
    let found = this.take(name)
    for (const alias of aliases.get(name) ?? none) {
      const value = this.take(alias)
      found ??= value
    }
    return found
  }

  /** Null says nothing, but is taken. */
  private take(name: string): AttributeValue | undefined {
    const value = this.given[name]
    if (value === undefined) return undefined
    this.taken.add(name)
    return value ?? undefined
  }

  has(name: string): boolean {
    return this.given[name] !== undefined && this.given[name] !== null
  }

  /** As `text`, but leaves it to whoever takes it. */
  peek(name: string): string {
    return textOf(this.given[name])
  }

  /** '' where there is none. */
  text(name: string): string {
    return textOf(this.value(name))
  }

  /** A count or duration; `undefined` where there is none. Numbers come as JSON numbers, as int64 and, from some senders, as text. */
  number(name: string): number | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'boolean' || value === '') return undefined
    const number = Number(value)
    return Number.isFinite(number) ? number : undefined
  }

  flag(name: string): boolean {
    const value = this.value(name)
    return value === true || value === 'true'
  }

  texts(name: string): string[] {
    const value = this.value(name)
    if (value === undefined) return []
    return Array.isArray(value) ? value.map(textOf) : [textOf(value)]
  }

  /** `{ NAME: text }` of every attribute whose name begins with `prefix`. */
  under(prefix: string): Record<string, string> {
    const found: Record<string, string> = {}
    for (const key of this.names) {
      if (!key.startsWith(prefix)) continue
      this.taken.add(key)
      put(found, key.slice(prefix.length).toWellFormed(), textOf(this.given[key]))
    }
    return found
  }

  /** Every attribute whose name begins with one of the prefixes, as JSON values under their full names; all of them count as taken. */
  json(prefixes: readonly string[]): Record<string, Json> {
    const found: Record<string, Json> = {}
    for (const key of this.names) {
      if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
      this.taken.add(key)
      put(found, key.toWellFormed(), jsonValueOf(this.given[key] ?? null))
    }
    return found
  }

  /** What was not taken. */
  rest(): Record<string, string> {
    const left: Record<string, string> = {}
    for (const key of this.names) if (!this.taken.has(key)) put(left, key.toWellFormed(), textOf(this.given[key]))
    return left
  }
}

/** Sets a member whatever its name: `__proto__` is an attribute like any other. */
export function put<T>(into: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true })
  else into[name] = value
}

/** Text as it is (U+FFFD for lone surrogates, which no row can hold), lists and maps as JSON, bytes as base64, nothing as ''. */
export function textOf(value: AttributeValue | undefined): string {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed()
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'undefined':
      return ''
    default:
      if (value === null) return ''
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
      return JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === 'bigint' ? Number(inner) : inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner,
      ).toWellFormed()
  }
}

/** The value as JSON: text well-formed, bytes as base64, integers beyond 2^53 rounded. */
export function jsonValueOf(value: AttributeValue): Json {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed()
    case 'bigint':
      return Number(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
      return value
    default:
      if (value === null) return null
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
      if (Array.isArray(value)) return value.map(jsonValueOf)
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), jsonValueOf(member)]))
  }
}
