// Wilson's score interval for a rate of independent trials. Shown beside rates; it knows nothing of sessions and decides nothing.

const z975 = 1.959963984540054

/** 95 % interval. */
export function wilson(successes: number, trials: number): { low: number; high: number } {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = successes / trials
  const z2 = z975 * z975
  const middle = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
  const half = (z975 / (1 + z2 / trials)) * Math.sqrt((rate * (1 - rate)) / trials + z2 / (4 * trials * trials))
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}
