// Keeps names beside points from lying on each other: those that would share a place side by side are moved up and down, as little as it takes, in their order.

export interface Label {
  /** Left and right end, and the middle between top and bottom, in percent of the plot. */
  from: number
  to: number
  middle: number
}

/** The middle of each label, in percent. `line`: the height of one. */
export function spreadLabels(labels: readonly Label[], line: number): number[] {
  const middles = labels.map(({ middle }) => middle)
  for (const column of columnsOf(labels)) {
    const order = column.toSorted((a, b) => (middles[a] ?? 0) - (middles[b] ?? 0))
    const groups: number[][] = []
    for (const index of order) {
      groups.push([index])
      // Labels that touch are one block about the mean of their own places; a block that grew may touch the one before.
      for (;;) {
        const [above, below] = groups.slice(-2)
        if (above === undefined || below === undefined || endOf(above) + line <= startOf(below) + 1e-9) break
        groups.splice(-2, 2, [...above, ...below])
      }
    }
    const placed = groups.map((group) => group.map((index, at) => [index, startOf(group) + at * line] as const))
    for (const [index, middle] of placed.flat()) middles[index] = middle
  }
  return middles

  function startOf(group: readonly number[]): number {
    const mean = group.reduce((sum, index) => sum + (labels[index]?.middle ?? 0), 0) / group.length
    const half = ((group.length - 1) / 2) * line
    // Within the plot, as far as all of them fit.
    return Math.max(line / 2, Math.min(mean, 100 - line / 2 - half) - half)
  }

  function endOf(group: readonly number[]): number {
    return startOf(group) + (group.length - 1) * line
  }
}

/** Sets of labels of which each lies over or under another one of its set. */
function columnsOf(labels: readonly Label[]): number[][] {
  const order = labels.map((_, index) => index).toSorted((a, b) => (labels[a]?.from ?? 0) - (labels[b]?.from ?? 0))
  const columns: number[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const index of order) {
    const { from = 0, to = 0 } = labels[index] ?? {}
    if (from < end) columns.at(-1)?.push(index)
    else columns.push([index])
    end = Math.max(end, to)
  }
  return columns
}
