// Near-duplicates between train and test: MinHash over word triples, so that 100,000 tasks need no comparison of all pairs.
import { createHash } from 'node:crypto'

const hashes = 64
const rowsOfABand = 4

export interface Pair {
  train: string
  test: string
  /** Estimated Jaccard similarity of their word triples. */
  similarity: number
}

/** Pairs whose estimated similarity is at least `threshold`. @default 0.9 */
export function nearDuplicates(
  train: readonly { id: string; text: string }[],
  test: readonly { id: string; text: string }[],
  threshold = 0.9,
): Pair[] {
  const buckets = new Map<string, { id: string; signature: Uint32Array }[]>()
  for (const { id, text } of train) {
    const signature = signatureOf(text)
    for (const band of bandsOf(signature)) buckets.set(band, [...(buckets.get(band) ?? []), { id, signature }])
  }
  const pairs: Pair[] = []
  for (const { id, text } of test) {
    const signature = signatureOf(text)
    const seen = new Set<string>()
    for (const band of bandsOf(signature))
      for (const other of buckets.get(band) ?? []) {
        if (seen.has(other.id)) continue
        seen.add(other.id)
        const similarity = signature.filter((value, at) => value === other.signature[at]).length / hashes
        if (similarity >= threshold) pairs.push({ train: other.id, test: id, similarity })
      }
  }
  return pairs
}

function signatureOf(text: string): Uint32Array {
  const words =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const signature = new Uint32Array(hashes).fill(0xffffffff)
  for (let at = 0; at < Math.max(1, words.length - 2); at++) {
    const digest = createHash('sha1')
      .update(words.slice(at, at + 3).join(' '))
      .digest()
    const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1]
    for (let hash = 0; hash < hashes; hash++) {
      const value = (a + Math.imul(b, hash)) >>> 0
      if (value < (signature[hash] ?? 0)) signature[hash] = value
    }
  }
  return signature
}

function bandsOf(signature: Uint32Array): string[] {
  const bands: string[] = []
  for (let at = 0; at < hashes; at += rowsOfABand) bands.push(`${at}:${signature.subarray(at, at + rowsOfABand).join(',')}`)
  return bands
}
