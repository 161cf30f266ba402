// Which episode a span belongs to: the topmost agent above it in its trace.

/** The spans of one trace. */
export interface SpanLink {
  id: string
  /** '' for a root. */
  parent: string
  isAgent: boolean
}

/** For each span the id of the topmost agent span at or above it; '' where no agent is. A parent that is missing, or a circle, ends the climb. */
export function episodeRoots(spans: readonly SpanLink[]): Map<string, string> {
  const byId = new Map(spans.map((span) => [span.id, span]))
  const roots = new Map<string, string>()
  for (const span of spans) {
    const path: SpanLink[] = []
    const onPath = new Set<string>()
    let at: SpanLink | undefined = span
    while (at !== undefined && !roots.has(at.id) && !onPath.has(at.id)) {
      path.push(at)
      onPath.add(at.id)
      at = at.parent === '' ? undefined : byId.get(at.parent)
    }
    let root = at === undefined ? '' : (roots.get(at.id) ?? '')
    for (const { id, isAgent } of path.reverse()) {
      if (root === '' && isAgent) root = id
      roots.set(id, root)
    }
  }
  return roots
}
