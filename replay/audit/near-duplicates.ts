// Near-duplicates between train and test: MinHash over word triples, so that 100,000 tasks need no comparison of all pairs.
import { bandsOf, type Signature, signatureOf, similarityOf } from '../environment/min-hash.ts'

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
  const buckets = new Map<number, { id: string; signature: Signature }[]>()
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
        const similarity = similarityOf(signature, other.signature)
        if (similarity >= threshold) pairs.push({ train: other.id, test: id, similarity })
      }
  }
  return pairs
}
