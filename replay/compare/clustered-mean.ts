// The mean of values that come in clusters, with the CR2 standard error and Bell–McCaffrey degrees of freedom.
// CR1 with clusters - 1 degrees of freedom rejects 6-15 % at a nominal 5 % where cluster sizes differ; this holds 5 % from about a dozen clusters on.
// Source: Bell & McCaffrey 2002; Pustejovsky & Tipton 2018, for the regression on a constant, where both have a closed form.
import { tQuantile } from './student-t.ts'

export interface ClusteredMean {
  mean: number
  /** CR2 standard error; 0 where there are fewer than two clusters, or nothing varies between them. */
  standardError: number
  /** Bell–McCaffrey (Satterthwaite, under independence); 0 where there are fewer than two clusters. */
  degreesOfFreedom: number
  values: number
  clusters: number
}

/**
 * @param values one a task, e.g. its paired difference
 * @param clusterOf the cluster of each value, as a number from 0; every number below the largest must occur
 */
export function clusteredMean(values: ArrayLike<number>, clusterOf: ArrayLike<number>): ClusteredMean {
  const n = values.length
  let sum = 0
  let clusters = 0
  for (let i = 0; i < n; i++) {
    sum += values[i] ?? 0
    clusters = Math.max(clusters, (clusterOf[i] ?? 0) + 1)
  }
  const mean = n === 0 ? Number.NaN : sum / n
  if (clusters < 2) return { mean, standardError: 0, degreesOfFreedom: 0, values: n, clusters }

  const sizes = new Float64Array(clusters)
  const residuals = new Float64Array(clusters)
  for (let i = 0; i < n; i++) {
    const cluster = clusterOf[i] ?? 0
    sizes[cluster] = (sizes[cluster] ?? 0) + 1
    residuals[cluster] = (residuals[cluster] ?? 0) + ((values[i] ?? 0) - mean)
  }
  // On a constant the hat matrix is 11'/n: each cluster's CR2 adjustment is 1 / sqrt(1 - share), share = size / n.
  let variance = 0
  let trace = 0
  let offDiagonal = 0
  let offDiagonalSquares = 0
  for (let cluster = 0; cluster < clusters; cluster++) {
    const share = (sizes[cluster] ?? 0) / n
    const residual = (residuals[cluster] ?? 0) / n
    variance += (residual * residual) / (1 - share)
    trace += share * share
    const off = (share * share) / (1 - share)
    offDiagonal += off
    offDiagonalSquares += off * off
  }
  // (sum of eigenvalues)² / sum of their squares, of the matrix whose diagonal is share / n and whose rest is share_g share_h / (n sqrt((1 - share_g)(1 - share_h))).
  const degreesOfFreedom = 1 / (trace + offDiagonal * offDiagonal - offDiagonalSquares)
  return { mean, standardError: Math.sqrt(variance), degreesOfFreedom, values: n, clusters }
}

/** Mean ± t x standard error. @param level e.g. 0.95 */
export function interval(estimate: ClusteredMean, level: number): { low: number; high: number } {
  if (estimate.degreesOfFreedom === 0) return { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }
  const half = tQuantile(1 - (1 - level) / 2, estimate.degreesOfFreedom) * estimate.standardError
  return { low: estimate.mean - half, high: estimate.mean + half }
}
