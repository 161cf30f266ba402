// One candidate against the baseline: paired differences of tasks, the verdict, and what is shown beside it.
import { clusterBootstrap } from './bootstrap.ts'
import { clusteredMean } from './clustered-mean.ts'
import { detectableDifference, sessionsNeeded } from './detectable.ts'
import { holm } from './holm.ts'
import { type Paired, pairedDeltas } from './paired-deltas.ts'
import { signTest } from './sign-test.ts'
import type { Tally, TaskTally } from './tally.ts'
import type { Estimate, PairComparison, TaskDelta } from './types.ts'
import { decide, estimate, type Verdict } from './verdict.ts'
import { verdictSentence } from './verdict-sentence.ts'

export interface PairOptions {
  baseline: string
  candidate: string
  margin: number
  /** Every planned outcome of both arms is there. */
  finished: boolean
  tags?: (task: string) => Record<string, string>
}

/** Pure. Tasks that an arm has no score for are left out of the primary estimate, and counted. */
export function comparePair(tally: Tally, options: PairOptions): PairComparison {
  const { baseline, candidate, margin, finished } = options
  const paired = (value: (tries: TaskTally, side: 'baseline' | 'candidate') => (number | null | undefined)[]) =>
    pairedDeltas(tally, baseline, candidate, value)
  const observed = paired((tries) => tries.scores)
  const set = (whenBaseline: number, whenCandidate: number) =>
    paired((tries, side) => tries.scores.map((score) => score ?? (side === 'baseline' ? whenBaseline : whenCandidate)))
  const worst = set(1, 0)
  const best = set(0, 1)
  const primary = estimate(observed.deltas, observed.sessionOf)
  const totals = [tally.totals.get(baseline), tally.totals.get(candidate)].filter((item) => item !== undefined)
  const verdict: Verdict = decide({
    finished,
    nullShare: Math.max(...totals.map((item) => share(item.nulls, item.outcomes))),
    afterDivergenceShare: Math.max(...totals.map((item) => share(item.userTurns.afterDivergence, item.userTurns.served))),
    margin,
    observed: primary,
    worst: estimate(worst.deltas, worst.sessionOf),
    best: estimate(best.deltas, best.sessionOf),
  })
  const cost = paired((tries) => (tries.costs.some((value) => value === undefined) ? [] : tries.costs))
  const clustered = clusteredMean(observed.deltas, observed.sessionOf)
  const detectable = detectableDifference(clustered)
  const sessionsForMargin = sessionsNeeded(clustered, margin)
  const mcnemar = mcnemarOf(tally, observed, baseline, candidate)
  return {
    design: 'paired',
    baseline,
    candidate,
    verdict,
    sentence: verdictSentence(verdict, primary, { design: 'paired', baseline, candidate, margin }),
    primary,
    margin,
    shown: {
      nullsAsZero: short(set(0, 0)),
      worst: short(worst),
      best: short(best),
      onTapeOnly: short(paired((tries) => tries.onTapeScores)),
      // One session drawn again and again is itself: an interval without width.
      ...(clustered.clusters >= 2 && { bootstrap: clusterBootstrap(observed.deltas, observed.sessionOf) }),
      ...(mcnemar && { mcnemar }),
      signTest: signs(observed),
      ...(detectable !== undefined && { detectableDifference: detectable }),
      ...(sessionsForMargin !== undefined && { sessionsForMargin }),
      ...(cost.deltas.length > 0 && { cost: short(cost) }),
      ...(observed.deltas.length > 0 && { durationMs: short(paired((tries) => tries.durations)) }),
    },
    criteria: byCriterion(tally, paired),
    slices: options.tags ? byTag(observed, options.tags) : [],
    tasks: taskDeltas(tally, options),
  }
}

function short(paired: Paired): Estimate {
  const { delta, interval95, p, tasks, sessions } = estimate(paired.deltas, paired.sessionOf)
  return { delta, low: interval95.low, high: interval95.high, p, tasks, sessions }
}

function byCriterion(tally: Tally, paired: (value: (tries: TaskTally) => (number | null)[]) => Paired): PairComparison['criteria'] {
  const estimates = tally.criteria.map(({ name, weight }, at) => ({
    name,
    weight,
    ...short(paired((tries) => tries.criteria[at] ?? [])),
  }))
  // What could not be tested is not one of the tests that are corrected for.
  const tested = estimates.filter(({ sessions }) => sessions >= 2)
  const adjusted = new Map(holm(tested.map(({ p }) => p)).map((p, at) => [tested[at]?.name, p]))
  return estimates.map((item) => ({ ...item, pHolm: adjusted.get(item.name) ?? 1 }))
}

/** Tags with 2 to 20 values: one slice a value. */
function byTag(observed: Paired, tags: (task: string) => Record<string, string>): PairComparison['slices'] {
  const members = new Map<string, Map<string, number[]>>()
  for (const [at, { task }] of observed.tasks.entries())
    for (const [tag, value] of Object.entries(tags(task))) {
      const values = members.get(tag) ?? new Map<string, number[]>()
      members.set(tag, values)
      const places = values.get(value)
      if (places === undefined) values.set(value, [at])
      else places.push(at)
    }
  const slices: PairComparison['slices'] = []
  for (const [tag, values] of [...members].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (values.size < 2 || values.size > 20) continue
    for (const [value, at] of [...values].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      slices.push({ tag, value, ...short(subset(observed, at)) })
  }
  return slices
}

function subset(paired: Paired, at: readonly number[]): Paired {
  const numbers = new Map<number, number>()
  const sessionOf = at.map((index) => {
    const session = paired.sessionOf[index] ?? 0
    const known = numbers.get(session)
    if (known !== undefined) return known
    numbers.set(session, numbers.size)
    return numbers.size - 1
  })
  return {
    deltas: at.map((index) => paired.deltas[index] ?? 0),
    sessionOf,
    tasks: at.flatMap((index) => paired.tasks[index] ?? []),
  }
}

function signs(paired: Paired): { wins: number; losses: number; ties: number; p: number } {
  const sums = new Map<number, number>()
  for (const [at, delta] of paired.deltas.entries()) {
    const session = paired.sessionOf[at] ?? 0
    sums.set(session, (sums.get(session) ?? 0) + delta)
  }
  const all = [...sums.values()]
  const wins = all.filter((sum) => sum > 1e-12).length
  const losses = all.filter((sum) => sum < -1e-12).length
  return { wins, losses, ties: all.length - wins - losses, p: signTest(wins, losses) }
}

function mcnemarOf(
  tally: Tally,
  observed: Paired,
  baseline: string,
  candidate: string,
): { wins: number; losses: number; p: number } | undefined {
  const sessions = new Set(observed.sessionOf)
  if (observed.tasks.length === 0 || sessions.size !== observed.tasks.length) return undefined
  for (const arm of [baseline, candidate])
    for (const tries of tally.arms.get(arm)?.values() ?? [])
      if (tries.scores.length !== 1 || tries.scores.some((score) => score !== null && score !== 0 && score !== 1)) return undefined
  const wins = observed.deltas.filter((delta) => delta > 0).length
  const losses = observed.deltas.filter((delta) => delta < 0).length
  return { wins, losses, p: signTest(wins, losses) }
}

function taskDeltas(tally: Tally, { baseline, candidate, tags }: PairOptions): TaskDelta[] {
  return tally.tasks.flatMap(({ task, session }) => {
    const a = tally.arms.get(baseline)?.get(task)
    const b = tally.arms.get(candidate)?.get(task)
    if (!a && !b) return []
    const from = meanOf(a?.scores)
    const to = meanOf(b?.scores)
    return {
      task,
      session,
      baseline: from,
      candidate: to,
      delta: from === null || to === null ? null : to - from,
      offTape: { baseline: a?.offTapeCalls ?? 0, candidate: b?.offTapeCalls ?? 0 },
      ...(tags && { tags: tags(task) }),
    }
  })
}

function meanOf(scores: readonly (number | null)[] | undefined): number | null {
  const known = (scores ?? []).filter((score) => score !== null)
  return known.length === 0 ? null : known.reduce((sum, score) => sum + score, 0) / known.length
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
