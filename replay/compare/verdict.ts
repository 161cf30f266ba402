// The verdict: one interval of the primary score decides, by rules in a fixed order. Everything else in a report is shown and never decides.
import { type ClusteredMean, clusteredMean, interval } from './clustered-mean.ts'
import { signTest } from './sign-test.ts'
import { tTwoSided } from './student-t.ts'

export type VerdictWord = 'better' | 'worse' | 'equivalent' | 'inconclusive' | 'none'

/** Why, as one word; `sentence` says it to a person. */
export type VerdictReason =
  | 'unfinished'
  | 'censored'
  | 'coverage'
  | 'off-script'
  | 'too-few-sessions'
  | 'zero-variance'
  | 'sign-test'
  | 'permutation-test'
  | 'interval'
  | 'within-margin'
  | 'identical'
  | 'too-wide'

export interface Verdict {
  word: VerdictWord
  reason: VerdictReason
}

/** The sessions under which no difference is called better or worse: with five, even unanimous ones leave an exact p of 0.0625. */
export const fewestSessions = 6
/** Share of scores that may be missing in an arm before the verdict must hold with them at worst and at best. */
export const censoredShare = 0.05
/** Share of recorded user turns that may be served after the candidate went another way. */
export const offScriptShare = 0.2

/** In a two-sample comparison: by how much the arms' shares of scored episodes may differ, where the difference is not chance. */
export const coverageShare = 0.02

/** The difference candidate - baseline, and what it was decided by. */
export interface PrimaryEstimate {
  delta: number
  standardError: number
  degreesOfFreedom: number
  /** Pairs of a task; in a two-sample comparison episodes. */
  tasks: number
  sessions: number
  /** Of the sessions, those that the arm with fewer has: all of them where tasks are paired. */
  fewestSessions: number
  /** 95 %; infinite ends where there are fewer than two sessions. */
  interval95: { low: number; high: number }
  /** 90 %: inside the margin means equivalent (two one-sided tests at 5 %). */
  interval90: { low: number; high: number }
  /** Two-sided; by t, or by an exact test over sessions where nothing varies. */
  p: number
  method: 't' | 'sign-test' | 'permutation-test'
  /** Not one score differs between the arms. */
  identical: boolean
}

/** Estimates the difference from the differences of tasks. @param sessionOf as for clusteredMean */
export function estimate(deltas: ArrayLike<number>, sessionOf: ArrayLike<number>): PrimaryEstimate {
  const mean = clusteredMean(deltas, sessionOf)
  const varies = mean.standardError > 1e-12
  return {
    delta: Math.abs(mean.mean) < 1e-15 ? 0 : mean.mean,
    standardError: mean.standardError,
    degreesOfFreedom: mean.degreesOfFreedom,
    tasks: mean.values,
    sessions: mean.clusters,
    fewestSessions: mean.clusters,
    interval95: interval(mean, 0.95),
    interval90: interval(mean, 0.9),
    p: varies ? tTwoSided(mean.mean / mean.standardError, mean.degreesOfFreedom) : signTestOverSessions(deltas, sessionOf, mean),
    method: varies ? 't' : 'sign-test',
    identical: Array.from(deltas).every((delta) => Math.abs(delta) < 1e-12),
  }
}

/** The rules that need the estimate alone: too few sessions, no variance, interval, margin. */
export function verdictOf(primary: PrimaryEstimate, margin: number): Verdict {
  if (primary.tasks === 0 || primary.fewestSessions < fewestSessions) return { word: 'inconclusive', reason: 'too-few-sessions' }
  if (primary.method !== 't') {
    if (primary.p < 0.05) return { word: primary.delta > 0 ? 'better' : 'worse', reason: primary.method }
    return primary.identical ? { word: 'equivalent', reason: 'identical' } : { word: 'inconclusive', reason: 'zero-variance' }
  }
  if (primary.interval95.low > 0) return { word: 'better', reason: 'interval' }
  if (primary.interval95.high < 0) return { word: 'worse', reason: 'interval' }
  if (primary.interval90.low > -margin && primary.interval90.high < margin) return { word: 'equivalent', reason: 'within-margin' }
  return { word: 'inconclusive', reason: 'too-wide' }
}

/** What the whole rule asks for beside the estimate. */
export interface VerdictInput {
  /** Every planned rollout of both arms is there. */
  finished: boolean
  /** The larger of the two arms' shares of scores that are null. */
  nullShare: number
  /** The larger of the two arms' shares of recorded user turns served after divergence. */
  afterDivergenceShare: number
  margin: number
  /** The estimate as it is; with missing scores against the candidate; and for it. */
  observed: PrimaryEstimate
  worst: PrimaryEstimate
  best: PrimaryEstimate
}

/** The rules in their order: unfinished, censored, off-script, then those of `verdictOf`. */
export function decide({ finished, nullShare, afterDivergenceShare, margin, observed, worst, best }: VerdictInput): Verdict {
  if (!finished) return { word: 'none', reason: 'unfinished' }
  const verdict = verdictOf(observed, margin)
  if (nullShare > censoredShare && [worst, best].some((side) => verdictOf(side, margin).word !== verdict.word))
    return { word: 'inconclusive', reason: 'censored' }
  if (afterDivergenceShare > offScriptShare) return { word: 'inconclusive', reason: 'off-script' }
  return verdict
}

/** Each session votes by the sign of its sum. */
function signTestOverSessions(deltas: ArrayLike<number>, sessionOf: ArrayLike<number>, mean: ClusteredMean): number {
  const sums = new Float64Array(mean.clusters)
  for (let i = 0; i < deltas.length; i++) sums[sessionOf[i] ?? 0] = (sums[sessionOf[i] ?? 0] ?? 0) + (deltas[i] ?? 0)
  let wins = 0
  let losses = 0
  for (const sum of sums) {
    if (sum > 1e-12) wins += 1
    if (sum < -1e-12) losses += 1
  }
  return signTest(wins, losses)
}
