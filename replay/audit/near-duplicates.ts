// Near-duplicates between train and test: MinHash over word triples, so that 100,000 tasks need no comparison of all pairs.
import { bandsOf, type Signature, signatureOf, similarityOf } from '../environment/min-hash.ts'

/** A test text, and the first of train that it is like. */
export interface Pair {
  train: string
  test: string
}

interface Known {
  id: string
  signature: Signature
}

/** One pair for each test text that is like one of train: their word triples' estimated Jaccard similarity is at least `threshold`. @default 0.9 */
export function nearDuplicates(
  train: readonly { id: string; text: string }[],
  test: readonly { id: string; text: string }[],
  threshold = 0.9,
): Pair[] {
  const buckets = new Map<number, Known[]>()
  for (const { id, text } of train) {
    const known = { id, signature: signatureOf(text) }
    for (const band of bandsOf(known.signature)) {
      const bucket = buckets.get(band)
      if (bucket === undefined) buckets.set(band, [known])
      else bucket.push(known)
    }
  }
  return test.flatMap(({ id, text }) => {
    const known = firstLike(signatureOf(text), buckets, threshold)
    return known === undefined ? [] : [{ train: known.id, test: id }]
  })
}

function firstLike(signature: Signature, buckets: ReadonlyMap<number, readonly Known[]>, threshold: number): Known | undefined {
  const seen = new Set<Known>()
  for (const band of bandsOf(signature))
    for (const known of buckets.get(band) ?? []) {
      if (seen.has(known)) continue
      seen.add(known)
      if (similarityOf(signature, known.signature) >= threshold) return known
    }
  return undefined
}
