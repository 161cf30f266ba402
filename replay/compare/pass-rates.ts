// pass^k and pass@k from repeats of each task, by the unbiased estimators; a pass is a score of 1.

export interface PassRates {
  k: number
  /** All of k tries pass: mean over tasks of C(c, k) / C(n, k). */
  passHat: number
  /** At least one of k tries passes: mean over tasks of 1 - C(n - c, k) / C(n, k). */
  passAt: number
  /** Tasks with at least k scored repeats. */
  tasks: number
}

/**
 * For k = 1, 2, … up to the most scored repeats that any task has. Unscored repeats (null) are no tries.
 * @param repeats by task, the scores of its repeats
 */
export function passRates(repeats: readonly (readonly (number | null)[])[]): PassRates[] {
  const counts = repeats.map((scores) => {
    const tries = scores.filter((score) => score !== null)
    return { tries: tries.length, passes: tries.filter((score) => score >= 1 - 1e-9).length }
  })
  const most = counts.reduce((max, { tries }) => Math.max(max, tries), 0)
  const rates: PassRates[] = []
  for (let k = 1; k <= most; k++) {
    const enough = counts.filter(({ tries }) => tries >= k)
    const mean = (each: (count: { tries: number; passes: number }) => number) =>
      enough.reduce((sum, count) => sum + each(count), 0) / enough.length
    rates.push({
      k,
      passHat: mean(({ tries, passes }) => chosenFrom(passes, tries, k)),
      passAt: mean(({ tries, passes }) => 1 - chosenFrom(tries - passes, tries, k)),
      tasks: enough.length,
    })
  }
  return rates
}

/** C(some, k) / C(all, k) */
function chosenFrom(some: number, all: number, k: number): number {
  let ratio = 1
  for (let i = 0; i < k; i++) ratio *= Math.max(0, some - i) / (all - i)
  return ratio
}
