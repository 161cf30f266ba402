// How far a judge agrees with people who scored the same episodes: share of agreement, and Cohen's kappa, which takes out what chance would give.

export interface Agreement {
  pairs: number
  /** Share of pairs that are equal. */
  agreement: number
  /** Cohen's kappa; `undefined` where both always say the same one thing, so that chance explains all. */
  kappa?: number
  /** Kappa with linear weights: on a scale of several steps a near miss is half a hit. */
  weightedKappa?: number
  /** Counts by value: rows the judge, columns the person, in the order of `values`. */
  confusion: { values: number[]; counts: number[][] }
}

/** @param pairs values in [0, 1] of the same scale; pairs in which one is missing are left out by the caller */
export function agreementOf(pairs: readonly { judge: number; human: number }[]): Agreement {
  const values = [...new Set(pairs.flatMap(({ judge, human }) => [judge, human]))].toSorted((a, b) => a - b)
  const counts = values.map(() => values.map(() => 0))
  for (const { judge, human } of pairs) {
    const row = counts[values.indexOf(judge)]
    const column = values.indexOf(human)
    if (row) row[column] = (row[column] ?? 0) + 1
  }
  const kappa = kappaOf(counts, (a, b) => (a === b ? 0 : 1))
  const weightedKappa = kappaOf(counts, (a, b) => Math.abs(a - b))
  const equal = pairs.filter(({ judge, human }) => judge === human).length
  return {
    pairs: pairs.length,
    agreement: pairs.length === 0 ? 0 : equal / pairs.length,
    ...(kappa !== undefined && { kappa }),
    ...(weightedKappa !== undefined && { weightedKappa }),
    confusion: { values, counts },
  }
}

/** 1 - observed over expected disagreement (Cohen 1968). */
function kappaOf(counts: readonly (readonly number[])[], disagreement: (a: number, b: number) => number): number | undefined {
  const total = counts.flat().reduce((sum, count) => sum + count, 0)
  const rows = counts.map((row) => row.reduce((sum, count) => sum + count, 0))
  const columns = counts.map((_, at) => counts.reduce((sum, row) => sum + (row[at] ?? 0), 0))
  let observed = 0
  let expected = 0
  for (const [a, row] of counts.entries())
    for (const [b, count] of row.entries()) {
      observed += disagreement(a, b) * count
      expected += (disagreement(a, b) * (rows[a] ?? 0) * (columns[b] ?? 0)) / total
    }
  return expected > 0 ? 1 - observed / expected : undefined
}
