// One candidate against the baseline in traffic that each session saw one arm of: two samples, unpaired, clustered by session.

import type { PairOptions } from './compare-pair.ts'
import { detectableDifference, sessionsNeeded } from './detectable.ts'
import type { Tally, TaskTally } from './tally.ts'
import { type Sample, twoSampleDifference, twoSampleEstimate } from './two-sample.ts'
import type { Estimate, PairComparison } from './types.ts'
import { coverageShare, decide, type Verdict } from './verdict.ts'
import { verdictSentence } from './verdict-sentence.ts'

/** Pure. Sessions that saw both arms are left out; `mixedSessions` counts them. */
export function compareTwoSample(tally: Tally, { baseline, candidate, margin, finished }: PairOptions): PairComparison {
  const mixed = mixedSessions(tally, baseline, candidate)
  const samples = (value: (tries: TaskTally) => (number | null | undefined)[]) => ({
    a: sampleOf(tally, baseline, mixed, value),
    b: sampleOf(tally, candidate, mixed, value),
  })
  const short = (value: (tries: TaskTally) => (number | null | undefined)[]): Estimate => {
    const { a, b } = samples(value)
    const { delta, interval95, p, tasks, sessions } = twoSampleEstimate(a, b)
    return { delta, low: interval95.low, high: interval95.high, p, tasks, sessions }
  }
  const { a, b } = samples((tries) => tries.scores)
  const primary = twoSampleEstimate(a, b)
  const rated = (tries: TaskTally) => tries.scores.map((score) => (score === null ? 0 : 1))
  const coverage = { ...short(rated), baseline: meanOf(samples(rated).a), candidate: meanOf(samples(rated).b) }
  const decided = decide({ finished, nullShare: 0, afterDivergenceShare: 0, margin, observed: primary, worst: primary, best: primary })
  // Who gives a score may depend on what they got: where the arms differ in that, those who gave one cannot be compared.
  const uneven = coverage.p < 0.05 && Math.abs(coverage.delta) > coverageShare
  const verdict: Verdict =
    uneven && decided.reason !== 'too-few-sessions' && decided.word !== 'none' ? { word: 'inconclusive', reason: 'coverage' } : decided
  const difference = twoSampleDifference(a, b)
  const detectable = detectableDifference(difference)
  const sessionsForMargin = sessionsNeeded(difference, margin)
  const costs = (tries: TaskTally) => tries.costs
  return {
    design: 'two-sample',
    baseline,
    candidate,
    verdict,
    sentence: verdictSentence(verdict, primary, { design: 'two-sample', baseline, candidate, margin }),
    primary,
    margin,
    shown: {
      nullsAsZero: short((tries) => tries.scores.map((score) => score ?? 0)),
      coverage,
      ...(detectable !== undefined && { detectableDifference: detectable }),
      ...(sessionsForMargin !== undefined && { sessionsForMargin }),
      ...(samples(costs).a.values.length > 0 && samples(costs).b.values.length > 0 && { cost: short(costs) }),
      ...(a.values.length > 0 && b.values.length > 0 && { durationMs: short((tries) => tries.durations) }),
    },
    criteria: [],
    slices: [],
    tasks: [],
  }
}

/** Sessions with episodes of both arms: they were moved from one to the other on the way. */
export function mixedSessions(tally: Tally, baseline: string, candidate: string): Set<string> {
  const mixed = new Set<string>()
  const seen = new Set<string>()
  for (const { task, session } of tally.tasks) if (tally.arms.get(baseline)?.has(task)) seen.add(session)
  for (const { task, session } of tally.tasks) if (tally.arms.get(candidate)?.has(task) && seen.has(session)) mixed.add(session)
  return mixed
}

function sampleOf(
  tally: Tally,
  arm: string,
  mixed: ReadonlySet<string>,
  value: (tries: TaskTally) => (number | null | undefined)[],
): Sample {
  const numbers = new Map<string, number>()
  const sample: Sample = { values: [], sessionOf: [] }
  const byTask = tally.arms.get(arm)
  for (const { task, session } of tally.tasks) {
    const tries = byTask?.get(task)
    if (!tries || mixed.has(session)) continue
    for (const each of value(tries)) {
      if (each === null || each === undefined) continue
      const number = numbers.get(session) ?? numbers.size
      numbers.set(session, number)
      sample.values.push(each)
      sample.sessionOf.push(number)
    }
  }
  return sample
}

function meanOf({ values }: Sample): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
