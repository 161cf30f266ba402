// Which tasks are shown with both episodes side by side: the largest regressions and wins of each pair, up to a bound, with the two tries that differ most.
import type { Episode } from '@homeground/sdk/trace'
import type { Comparison, ComparisonSource, Outcome, PairComparison } from '../types.ts'

export interface CaseSide {
  outcome: Outcome
  episode?: Episode
}

export interface Case {
  /** The id of its place on the page. */
  anchor: string
  baseline: string
  candidate: string
  task: string
  session: string
  delta: number | null
  kind: 'regression' | 'win' | 'unscored' | 'same'
  from?: CaseSide
  to?: CaseSide
}

/** Each of regressions, wins and unscored tasks that a pair shows at most. */
const mostOfAKind = 12
const mostTies = 4

/** Reads the outcomes once, and the episodes once. */
export async function chooseCases(
  comparison: Comparison,
  source: Pick<ComparisonSource, 'outcomes'>,
  episodes: AsyncIterable<Episode>,
): Promise<Case[]> {
  const chosen = comparison.pairs.flatMap((pair, at) => chosenTasks(pair).map((task) => ({ pair, task, at })))
  const wanted = new Set(chosen.map(({ task }) => task.task))
  const outcomes = new Map<string, Outcome[]>()
  for await (const outcome of source.outcomes()) {
    if (!wanted.has(outcome.task)) continue
    const key = `${outcome.arm}\n${outcome.task}`
    outcomes.set(key, [...(outcomes.get(key) ?? []), outcome])
  }
  const cases = chosen.map(({ pair, task, at }): Case => {
    const rising = (task.delta ?? 0) >= 0
    const from = pick(outcomes.get(`${pair.baseline}\n${task.task}`), rising ? 'lowest' : 'highest')
    const to = pick(outcomes.get(`${pair.candidate}\n${task.task}`), rising ? 'highest' : 'lowest')
    return {
      anchor: `case-${at + 1}-${task.number}`,
      baseline: pair.baseline,
      candidate: pair.candidate,
      task: task.task,
      session: task.session,
      delta: task.delta,
      kind: task.kind,
      ...(from && { from: { outcome: from } }),
      ...(to && { to: { outcome: to } }),
    }
  })
  await attachEpisodes(cases, episodes)
  return cases
}

function chosenTasks(pair: PairComparison) {
  const numbered = pair.tasks.map((task, number) => {
    const kind: Case['kind'] = task.delta === null ? 'unscored' : task.delta < -1e-12 ? 'regression' : task.delta > 1e-12 ? 'win' : 'same'
    return { ...task, number: number + 1, kind }
  })
  const of = (kind: Case['kind']) => numbered.filter((task) => task.kind === kind)
  const size = (task: { delta: number | null }) => Math.abs(task.delta ?? 0)
  const largest = (kind: Case['kind']) =>
    of(kind)
      .toSorted((a, b) => size(b) - size(a))
      .slice(0, mostOfAKind)
  const others = [...of('unscored').slice(0, mostOfAKind), ...of('same').slice(0, mostTies)]
  return [...largest('regression'), ...largest('win'), ...others]
}

function pick(outcomes: readonly Outcome[] | undefined, which: 'lowest' | 'highest'): Outcome | undefined {
  const scored = (outcomes ?? []).filter((outcome) => outcome.score !== null)
  const sorted = scored.toSorted((a, b) => (a.score ?? 0) - (b.score ?? 0))
  return (which === 'lowest' ? sorted[0] : sorted.at(-1)) ?? outcomes?.[0]
}

async function attachEpisodes(cases: readonly Case[], episodes: AsyncIterable<Episode>): Promise<void> {
  const waiting = new Map<string, CaseSide[]>()
  for (const side of cases.flatMap(({ from, to }) => [from, to]))
    if (side) waiting.set(side.outcome.episode, [...(waiting.get(side.outcome.episode) ?? []), side])
  if (waiting.size === 0) return
  for await (const episode of episodes) {
    for (const side of waiting.get(episode.id) ?? []) side.episode = episode
    waiting.delete(episode.id)
    if (waiting.size === 0) return
  }
}
