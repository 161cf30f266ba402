// What JSON can say, as a check at run time; and the reading of JSON text that may not be JSON.
import type { Json } from './episode.ts'

/** True for what `JSON.stringify` gives back whole: no undefined, function, bigint, NaN, Date or cycle deeper than the stack. */
export function isJson(value: unknown): value is Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object': {
      if (value === null) return true
      if (Array.isArray(value)) return value.every(isJson)
      const prototype: unknown = Object.getPrototypeOf(value)
      // A plain object of any realm: of this one, or of a test runner's.
      if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) return false
      return Object.values(value).every(isJson)
    }
    default:
      return false
  }
}

/** Equal as `JSON.stringify` would write them, members in the same order too, without writing them; shared objects cost nothing. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  if (Array.isArray(b)) return false
  const [mine, theirs] = [Object.entries(a), Object.entries(b)]
  return (
    mine.length === theirs.length && mine.every(([key, value], index) => key === theirs[index]?.[0] && sameJson(value, theirs[index][1]))
  )
}

/** The parsed value, or `undefined` where the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Levels that a recorded value may have: whatever walks through one makes a call for each, and some thousands fill the stack. */
export const deepestValue = 500

/** `parseJson`, and `undefined` for what is nested too deep. */
export function parseBounded(text: string): Json | undefined {
  const value = parseJson(text)
  return value !== undefined && mayBeDeep(text) && isDeeper(value, deepestValue) ? undefined : value
}

/** Nearly no text has so many brackets, and looking for them costs much less than the parse. */
function mayBeDeep(text: string): boolean {
  return text.length > deepestValue && ['{', '['].some((bracket) => hasMany(text, bracket, deepestValue / 2))
}

function hasMany(text: string, bracket: string, most: number): boolean {
  let count = 0
  for (let at = text.indexOf(bracket); at >= 0 && count <= most; at = text.indexOf(bracket, at + 1)) count += 1
  return count > most
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

/** `parseBounded` with U+FFFD for lone surrogates. Only text that has or escapes one is searched: the search costs more than the parse. */
export function parseWellFormed(text: string): Json | undefined {
  const value = parseBounded(text)
  return value === undefined || (!/\\u[dD][89a-fA-F]/.test(text) && text.isWellFormed()) ? value : wellFormed(value)
}

/** The parsed value; text that is not JSON stays the string that it is. U+FFFD stands for lone surrogates. */
export function jsonOrText(text: string): Json {
  const value = parseWellFormed(text)
  return value === undefined ? text.toWellFormed() : value
}

/** As `String` has it; an object or a list as JSON: `String` calls what an object has under `toString`, which in a vendor's body may be anything. */
export function textOfJson(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** A plain JSON object, or `undefined`. */
export function asObject(value: Json | undefined): { [key: string]: Json } | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

/** A JSON array; anything else is an empty one. */
export function asArray(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

/** A string, or `undefined`. */
export function asText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A finite number, or `undefined`. */
export function asNumber(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The value with U+FFFD for every lone surrogate, in keys too: such text has no UTF-8 form. The value itself where there is none. */
export function wellFormed<T extends Json>(value: T): T
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) {
    const items = value.map((item) => wellFormed(item))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]): [string, Json] => [key.toWellFormed(), wellFormed(member)])
  return members.some(([key, member]) => value[key] !== member) ? Object.fromEntries(members) : value
}
