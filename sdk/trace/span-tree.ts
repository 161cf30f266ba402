// The spans of one trace as a tree: who ran under whom, whatever the order in which they came, and whichever of them are missing.
import type { SpanRow } from './row.ts'

export class SpanTree {
  private readonly rows: ReadonlyMap<string, SpanRow>
  private readonly tops = new Map<string, SpanRow | undefined>()
  private readonly depths = new Map<string, number>()
  private readonly parents = new Map<string, string | undefined>()

  /** Of rows with the same span id the later in the list counts. */
  constructor(rows: readonly SpanRow[]) {
    this.rows = new Map(rows.map((row) => [row.spanId, row]))
    for (const row of this.rows.values()) this.climb(row)
  }

  /** By start, then ancestors first, then by span id: the same for every order of arrival. */
  inOrder(): SpanRow[] {
    return [...this.rows.values()].sort(
      (a, b) => compare(a.startTimeUnixNano, b.startTimeUnixNano) || this.depthOf(a) - this.depthOf(b) || compare(a.spanId, b.spanId),
    )
  }

  /** The outermost agent at or above the row; `undefined` where there is none. */
  topAgentOf(row: SpanRow): SpanRow | undefined {
    return this.tops.get(row.spanId)
  }

  /** Span id of the nearest step or agent above the row. */
  parentOf(row: SpanRow): string | undefined {
    const path = new Set([row.spanId])
    let above = this.above(row)
    while (above?.kind === 'other' && !path.has(above.spanId) && !this.parents.has(above.spanId)) {
      path.add(above.spanId)
      above = this.above(above)
    }
    const isCircle = above !== undefined && path.has(above.spanId)
    const parent = above === undefined || isCircle ? undefined : above.kind === 'other' ? this.parents.get(above.spanId) : above.spanId
    // Noted for all that were passed: each row is visited once, however long the chain.
    for (const id of path) this.parents.set(id, parent)
    return parent
  }

  private depthOf(row: SpanRow): number {
    return this.depths.get(row.spanId) ?? 0
  }

  private above(row: SpanRow): SpanRow | undefined {
    return row.parentSpanId === '' ? undefined : this.rows.get(row.parentSpanId)
  }

  /** Notes top agent and depth of the row and of all above it: each row is visited once, however deep the tree. */
  private climb(row: SpanRow): void {
    const path: SpanRow[] = []
    const seen = new Set<string>()
    let at: SpanRow | undefined = row
    // A span that names itself or a descendant as its parent ends the climb.
    while (at !== undefined && !this.depths.has(at.spanId) && !seen.has(at.spanId)) {
      seen.add(at.spanId)
      path.push(at)
      at = this.above(at)
    }
    let depth = at === undefined ? -1 : (this.depths.get(at.spanId) ?? -1)
    let top = at === undefined ? undefined : this.tops.get(at.spanId)
    for (const below of path.reverse()) {
      depth += 1
      if (top === undefined && below.kind === 'agent') top = below
      this.depths.set(below.spanId, depth)
      this.tops.set(below.spanId, top)
    }
  }
}

export function compare<T extends bigint | string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
