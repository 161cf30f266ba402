// Which candidates may give rows: of the split asked for, scored well enough, the best of their task. Reads the source once, and checks on the way that no session leaks.
import { LeakGuard } from './leak-guard.ts'
import type { DatasetOptions, DatasetSource, DropReason } from './types.ts'

export interface Selection {
  /** Keys of the candidates to look at. */
  chosen: Set<string>
  /** How many of them each task has: with the last of them its group is whole. */
  chosenOfTask: Map<string, number>
  considered: number
  heldOut: number
  dropped: { id: string; reason: DropReason }[]
}

interface Noted {
  key: string
  id: string
  task: string
  score: number | null | undefined
}

/** `threshold`: whether `minScore` and `best` choose episodes here; pairs, answers and groups use scores otherwise. @throws HomegroundError session-leak */
export async function selectCandidates(source: DatasetSource, options: DatasetOptions, threshold: boolean): Promise<Selection> {
  const guard = new LeakGuard()
  const noted: Noted[] = []
  const selection: Selection = { chosen: new Set(), chosenOfTask: new Map(), considered: 0, heldOut: 0, dropped: [] }
  let place = 0
  for await (const { episode, session, split, task, score } of source.candidates()) {
    guard.note(session, split, episode.id)
    const key = candidateKey(place++, episode.id)
    if (split !== undefined && split !== (options.split ?? 'train')) selection.heldOut += 1
    else noted.push({ key, id: episode.id, task, score })
  }
  selection.considered = noted.length
  const good = noted.filter(({ id, score }) => {
    const reason = threshold ? scoreFault(score, options) : undefined
    if (reason !== undefined) selection.dropped.push({ id, reason })
    return reason === undefined
  })
  const best = threshold && options.best !== undefined ? bestOf(good, options.best) : new Set(good.map(({ key }) => key))
  for (const { key, id, task } of good) {
    if (best.has(key)) {
      selection.chosen.add(key)
      selection.chosenOfTask.set(task, (selection.chosenOfTask.get(task) ?? 0) + 1)
    } else selection.dropped.push({ id, reason: 'not-best' })
  }
  return selection
}

/** Two runs may hold the same episode id: the place in the source tells them apart. */
export function candidateKey(place: number, id: string): string {
  return `${place} ${id}`
}

/** No score is never read as 0. */
function scoreFault(score: number | null | undefined, options: DatasetOptions): DropReason | undefined {
  if (options.minScore === undefined && options.best === undefined) return undefined
  if (score === null || score === undefined) return 'no-score'
  return score < (options.minScore ?? Number.NEGATIVE_INFINITY) ? 'below-threshold' : undefined
}

/** Of equal scores the earlier ones. */
function bestOf(noted: readonly Noted[], count: number): Set<string> {
  const byTask = new Map<string, Noted[]>()
  for (const candidate of noted) byTask.set(candidate.task, [...(byTask.get(candidate.task) ?? []), candidate])
  const kept = new Set<string>()
  for (const group of byTask.values()) {
    const order = [...group].sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
    for (const { key } of order.slice(0, count)) kept.add(key)
  }
  return kept
}
