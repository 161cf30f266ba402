// The difference of two arms that share no session: CR2 standard error and Bell–McCaffrey degrees of freedom of the regression on the arm.
// Arms without a common cluster make its matrices block-diagonal, so both have a closed form in those of the arms' means.
import { type ClusteredMean, clusteredMean, interval } from './clustered-mean.ts'
import { tTwoSided } from './student-t.ts'
import type { PrimaryEstimate } from './verdict.ts'

/** One arm's values, one an episode, with the session of each numbered from 0 within the arm. */
export interface Sample {
  values: number[]
  sessionOf: number[]
}

/** Candidate less baseline; `values` and `clusters` are those of both arms together. */
export function twoSampleDifference(baseline: Sample, candidate: Sample): ClusteredMean {
  const a = clusteredMean(baseline.values, baseline.sessionOf)
  const b = clusteredMean(candidate.values, candidate.sessionOf)
  const known = a.degreesOfFreedom > 0 && b.degreesOfFreedom > 0
  // Under the working model CR2 is unbiased: the variance of an arm's mean is proportional to 1 / values.
  const share = { a: 1 / a.values, b: 1 / b.values }
  return {
    mean: b.mean - a.mean,
    standardError: known ? Math.hypot(a.standardError, b.standardError) : 0,
    degreesOfFreedom: known ? (share.a + share.b) ** 2 / (share.a ** 2 / a.degreesOfFreedom + share.b ** 2 / b.degreesOfFreedom) : 0,
    values: a.values + b.values,
    clusters: a.clusters + b.clusters,
  }
}

/** Where nothing varies within either arm, the exact permutation test over sessions stands in for t. */
export function twoSampleEstimate(baseline: Sample, candidate: Sample): PrimaryEstimate {
  const difference = twoSampleDifference(baseline, candidate)
  const varies = difference.standardError > 1e-12
  const delta = Math.abs(difference.mean) < 1e-12 ? 0 : difference.mean
  const sessions = [baseline, candidate].map(({ sessionOf }) => new Set(sessionOf).size) as [number, number]
  return {
    delta,
    standardError: difference.standardError,
    degreesOfFreedom: difference.degreesOfFreedom,
    tasks: difference.values,
    sessions: difference.clusters,
    fewestSessions: Math.min(...sessions),
    interval95: interval(difference, 0.95),
    interval90: interval(difference, 0.9),
    p: varies
      ? tTwoSided(difference.mean / difference.standardError, difference.degreesOfFreedom)
      : delta === 0
        ? 1
        : 2 / choose(...sessions),
    method: varies ? 't' : 'permutation-test',
    identical: !varies && delta === 0 && constant([...baseline.values, ...candidate.values]),
  }
}

/** In how many ways the sessions could have been dealt to the arms; the observed one and its mirror are the most extreme. */
function choose(a: number, b: number): number {
  let ways = 1
  for (let i = 1; i <= Math.min(a, b); i++) ways *= (a + b - i + 1) / i
  return Math.max(2, ways)
}

function constant(values: readonly number[]): boolean {
  return values.every((value) => Math.abs(value - (values[0] ?? 0)) < 1e-12)
}
