// Rows that say the same: equal ones by their hash, nearly equal ones by MinHash over runs of five words (Broder 1997), found through bands so that each row is compared with few.
import { canonicalHash } from '@homeground/sdk/trace'
import type { Row } from '../formats/messages.ts'

const hashes = 64
const bandRows = 4
const runOfWords = 5

export class Duplicates {
  private readonly threshold: number
  private readonly equal = new Set<string>()
  private readonly bands = new Map<string, Uint32Array[]>()

  /** @param threshold share of equal word runs from which rows are the same; 1 = only equal rows */
  constructor(threshold = 1) {
    this.threshold = threshold
  }

  /** True where a row like it was here before; if not, it is noted. Call ids say nothing. */
  seen(row: Row): boolean {
    const hash = canonicalHash(withoutIds(row))
    if (this.equal.has(hash)) return true
    this.equal.add(hash)
    return this.threshold < 1 && this.seenNearly(row)
  }

  private seenNearly(row: Row): boolean {
    const signature = signatureOf(JSON.stringify(withoutIds(row)))
    const keys = bandKeys(signature)
    const near = keys.some((key) => this.bands.get(key)?.some((other) => likeness(signature, other) >= this.threshold))
    if (near) return true
    for (const key of keys) {
      const others = this.bands.get(key)
      if (others === undefined) this.bands.set(key, [signature])
      else others.push(signature)
    }
    return false
  }
}

function withoutIds(row: Row): Row {
  const copy: Row = JSON.parse(JSON.stringify(row, (key, value: unknown) => (key === 'id' || key === 'tool_call_id' ? undefined : value)))
  return copy
}

/** For each of 64 hash functions the least value over the text's word runs. */
function signatureOf(text: string): Uint32Array {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const signature = new Uint32Array(hashes).fill(0xffffffff)
  for (let start = 0; start === 0 || start + runOfWords <= words.length; start++) {
    let value = fnv1a(words.slice(start, start + runOfWords).join(' '))
    for (let index = 0; index < hashes; index++) {
      // A family of hash functions from one value: xorshift-multiply, a step each.
      value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) + index
      const hash = (value ^ (value >>> 13)) >>> 0
      if (hash < (signature[index] ?? 0)) signature[index] = hash
    }
  }
  return signature
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

function bandKeys(signature: Uint32Array): string[] {
  const keys: string[] = []
  for (let start = 0; start < hashes; start += bandRows) keys.push(`${start} ${signature.subarray(start, start + bandRows).join(' ')}`)
  return keys
}

/** Share of equal places: an estimate of the share of word runs that both have. */
function likeness(a: Uint32Array, b: Uint32Array): number {
  let equal = 0
  for (let index = 0; index < hashes; index++) if (a[index] === b[index]) equal += 1
  return equal / hashes
}
