// Cluster bootstrap of a mean: whole clusters are drawn again. Shown beside the interval that decides, as a check that does not lean on t.
import { seededRandom } from './seeded-random.ts'

export interface BootstrapInterval {
  low: number
  high: number
  resamples: number
  seed: number
}

/** 95 % percentile interval. @default resamples 2,000, fewer above 10,000 clusters (never under 200); seed 1 */
export function clusterBootstrap(
  values: ArrayLike<number>,
  clusterOf: ArrayLike<number>,
  options: { resamples?: number; seed?: number } = {},
): BootstrapInterval {
  const { seed = 1 } = options
  let clusters = 0
  for (let i = 0; i < clusterOf.length; i++) clusters = Math.max(clusters, (clusterOf[i] ?? 0) + 1)
  const resamples = options.resamples ?? Math.max(200, Math.min(2000, Math.floor(20_000_000 / Math.max(1, clusters))))
  const sums = new Float64Array(clusters)
  const sizes = new Float64Array(clusters)
  for (let i = 0; i < values.length; i++) {
    const cluster = clusterOf[i] ?? 0
    sums[cluster] = (sums[cluster] ?? 0) + (values[i] ?? 0)
    sizes[cluster] = (sizes[cluster] ?? 0) + 1
  }
  const random = seededRandom(seed)
  const means = new Float64Array(resamples)
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0
    let size = 0
    for (let draw = 0; draw < clusters; draw++) {
      const cluster = Math.floor(random() * clusters)
      sum += sums[cluster] ?? 0
      size += sizes[cluster] ?? 0
    }
    means[resample] = sum / size
  }
  means.sort()
  return { low: quantileOfSorted(means, 0.025), high: quantileOfSorted(means, 0.975), resamples, seed }
}

/** Linear between the two nearest values (NumPy's default). NaN of an empty list. */
export function quantileOfSorted(sorted: ArrayLike<number>, probability: number): number {
  const at = (sorted.length - 1) * probability
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}
