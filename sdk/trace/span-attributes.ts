// A span's attributes, taken one by one: what nobody took is left for the row's `attributes`. Values become the text that rows keep.
import { genAiAliases } from './attributes.ts'
import type { Json } from './episode.ts'
import type { Attributes, AttributeValue } from './span.ts'

export class SpanAttributes {
  private readonly given: Attributes
  private readonly taken = new Set<string>()

  constructor(given: Attributes) {
    this.given = given
  }

  /** The value under this name or one of its aliases; all of them count as taken. */
  value(name: string): AttributeValue | undefined {
    let found: AttributeValue | undefined
    for (const key of [name, ...(genAiAliases[name] ?? [])]) {
      const value = this.given[key]
      if (value === undefined) continue
      this.taken.add(key)
      if (found === undefined && value !== null) found = value
    }
    return found
  }

  has(name: string): boolean {
    return this.given[name] !== undefined && this.given[name] !== null
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
    const found: [string, string][] = []
    for (const [key, value] of Object.entries(this.given)) {
      if (!key.startsWith(prefix)) continue
      this.taken.add(key)
      found.push([key.slice(prefix.length).toWellFormed(), textOf(value)])
    }
    return Object.fromEntries(found)
  }

  /** Every attribute whose name begins with one of the prefixes, as JSON values under their full names; all of them count as taken. */
  json(prefixes: readonly string[]): Record<string, Json> {
    const found: [string, Json][] = []
    for (const [key, value] of Object.entries(this.given)) {
      if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
      this.taken.add(key)
      found.push([key.toWellFormed(), jsonValueOf(value)])
    }
    return Object.fromEntries(found)
  }

  /** What was not taken. */
  rest(): Record<string, string> {
    const left = Object.entries(this.given).filter(([key]) => !this.taken.has(key))
    return Object.fromEntries(left.map(([key, value]) => [key.toWellFormed(), textOf(value)]))
  }
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

function jsonValueOf(value: AttributeValue): Json {
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
