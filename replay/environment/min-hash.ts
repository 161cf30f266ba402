// MinHash of texts over runs of words (Broder 1997): how alike two texts are, without comparing them word by word, and an index of what has been seen that holds
// numbers alone. Found through bands, so that each text is compared with few.
import { createHash } from 'node:crypto'

const hashes = 64
const rowsOfABand = 4

export type Signature = Uint32Array

/** Shares of equal places in two signatures estimate the Jaccard similarity of the texts' runs of so many words. */
export function signatureOf(text: string, run = 3): Signature {
  const words =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const signature = new Uint32Array(hashes).fill(0xffffffff)
  for (let at = 0; at < Math.max(1, words.length - run + 1); at++) {
    const digest = createHash('sha1')
      .update(words.slice(at, at + run).join(' '))
      .digest()
    const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1]
    for (let hash = 0; hash < hashes; hash++) {
      const value = (a + Math.imul(b, hash)) >>> 0
      if (value < (signature[hash] ?? 0)) signature[hash] = value
    }
  }
  return signature
}

export function similarityOf(one: Signature, other: Signature): number {
  let same = 0
  for (let at = 0; at < hashes; at++) if (one[at] === other[at]) same++
  return same / hashes
}

/** Two texts of which one of these is the same are worth comparing; each is a number below 2^48. */
export function bandsOf(signature: Signature): number[] {
  const bands: number[] = []
  for (let at = 0; at < hashes; at += rowsOfABand) {
    const digest = createHash('sha1')
      .update(`${at}:${signature.subarray(at, at + rowsOfABand).join(',')}`)
      .digest()
    bands.push(digest.readUIntLE(0, 6))
  }
  return bands
}

/** The texts seen so far, none of which is like an earlier one. */
export class SeenTexts {
  readonly #threshold: number
  readonly #run: number
  readonly #signatures: Signature[] = []
  readonly #buckets = new Map<number, number[]>()

  /** @param threshold the share of runs of `run` words from which two texts count as alike */
  constructor(threshold: number, run = 3) {
    this.#threshold = threshold
    this.#run = run
  }

  /** Whether a text like this one was added before; if not, it is added. */
  has(text: string): boolean {
    const signature = signatureOf(text, this.#run)
    const bands = bandsOf(signature)
    for (const band of bands) {
      for (const index of this.#buckets.get(band) ?? []) {
        const other = this.#signatures[index]
        if (other !== undefined && similarityOf(signature, other) >= this.#threshold) return true
      }
    }
    for (const band of bands) {
      const bucket = this.#buckets.get(band)
      if (bucket) bucket.push(this.#signatures.length)
      else this.#buckets.set(band, [this.#signatures.length])
    }
    this.#signatures.push(signature)
    return false
  }
}
