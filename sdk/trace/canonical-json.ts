// Canonical JSON and its hash: the same value gives the same bytes, whoever wrote it. Tape keys, task ids and environment hashes rest on it.
import { createHash } from 'node:crypto'
import type { Json } from './episode.ts'

/**
 * Object keys sorted by code unit, strings in NFC, 1.0 as 1, -0 as 0, no white space; `null` is kept and is not absent.
 * Lone surrogates become U+FFFD, so that the text has one UTF-8 form. Members whose value is `undefined` are left out.
 * @throws TypeError for what JSON cannot say: NaN, Infinity, bigint, function, symbol
 */
export function canonicalJson(value: Json | undefined): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(canonicalText(value))
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`canonical JSON has no ${value}`)
      return JSON.stringify(value === 0 ? 0 : value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object': {
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
      const members: [string, Json | undefined][] = Object.entries(value).map(([key, member]) => [canonicalText(key), member])
      members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      return `{${members
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
        .join(',')}}`
    }
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`)
  }
}

/** sha256 of the canonical JSON, 64 hex. */
export function canonicalHash(value: Json): string {
  return sha256Hex(canonicalJson(value))
}

/** sha256 of UTF-8 text or bytes, 64 hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function canonicalText(text: string): string {
  // ASCII needs neither; the test is cheaper than the two conversions.
  return /^[\x20-\x7e]*$/.test(text) ? text : text.toWellFormed().normalize('NFC')
}
