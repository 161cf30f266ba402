// Holm's step-down adjustment: p values of several criteria, so that none stands out by their number alone.

/** Adjusted p values in the order given. */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((p, at) => ({ p, at })).toSorted((a, b) => a.p - b.p)
  const adjusted = new Array<number>(pValues.length).fill(1)
  let most = 0
  for (const [rank, { p, at }] of order.entries()) {
    most = Math.max(most, Math.min(1, (pValues.length - rank) * p))
    adjusted[at] = most
  }
  return adjusted
}
