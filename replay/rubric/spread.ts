// A few of many, from all over.

/** `limit` items at most, at even distances, in their order. The first ones alone would be of the same few sessions. */
export function spread<T>(items: readonly T[], limit: number): T[] {
  const every = Math.max(1, items.length / limit)
  return items.filter((_, at) => Math.floor(at / every) !== Math.floor((at - 1) / every))
}
