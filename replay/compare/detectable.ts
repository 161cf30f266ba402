// How small a difference this design can find, and how many sessions a smaller one would take.
import type { ClusteredMean } from './clustered-mean.ts'
import { tQuantile } from './student-t.ts'

/** Found in 80 % of runs at 5 %: (t.975 + t.80) x standard error. `undefined` where nothing varies. */
export function detectableDifference(estimate: ClusteredMean): number | undefined {
  const { degreesOfFreedom, standardError } = estimate
  if (degreesOfFreedom === 0 || standardError === 0) return undefined
  return (tQuantile(0.975, degreesOfFreedom) + tQuantile(0.8, degreesOfFreedom)) * standardError
}

/** Sessions of the same kind that would make `difference` detectable: the standard error falls with their square root. */
export function sessionsNeeded(estimate: ClusteredMean, difference: number): number | undefined {
  const detectable = detectableDifference(estimate)
  if (detectable === undefined || difference === 0) return undefined
  return Math.ceil(estimate.clusters * (detectable / Math.abs(difference)) ** 2)
}
