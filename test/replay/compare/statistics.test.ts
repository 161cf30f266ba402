import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { clusterBootstrap } from '../../../replay/compare/bootstrap.ts'
import { clusteredMean, interval } from '../../../replay/compare/clustered-mean.ts'
import { detectableDifference, sessionsNeeded } from '../../../replay/compare/detectable.ts'
import { holm } from '../../../replay/compare/holm.ts'
import { passRates } from '../../../replay/compare/pass-rates.ts'
import { signTest } from '../../../replay/compare/sign-test.ts'
import { tTwoSided } from '../../../replay/compare/student-t.ts'
import { type Sample, twoSampleDifference, twoSampleEstimate } from '../../../replay/compare/two-sample.ts'
import { wilson } from '../../../replay/compare/wilson.ts'
import { tauBenchEpisodes } from '../rubric/tau-bench.ts'

interface Reference {
  tables: {
    design: string
    values: number[]
    clusters: number[]
    expect: Record<'mean' | 'standardError' | 'degreesOfFreedom' | 'low95' | 'high95' | 'low90' | 'high90' | 'p' | 'detectable', number>
  }[]
  twoSamples: { design: string; values: number[]; clusters: number[]; arm: number[]; expect: Reference['tables'][number]['expect'] }[]
  signTest: { wins: number; losses: number; p: number; mcnemar: number }[]
  wilson: { successes: number; trials: number; low: number; high: number }[]
  holm: { p: number[]; adjusted: number[] }[]
}
const reference = JSON.parse(fs.readFileSync(new URL('reference/reference.json', import.meta.url), 'utf8')) as Reference

function close(actual: number | undefined, expected: number): void {
  expect(Math.abs((actual ?? Number.NaN) - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)))
}

describe('CR2 with Bell–McCaffrey degrees of freedom', () => {
  test.each(reference.tables.map((table) => [table.design, table] as const))('equals the matrix definition: %s', (_, table) => {
    const mean = clusteredMean(table.values, table.clusters)
    const { expect: wanted } = table
    close(mean.mean, wanted.mean)
    close(mean.standardError, wanted.standardError)
    close(mean.degreesOfFreedom, wanted.degreesOfFreedom)
    close(interval(mean, 0.95).low, wanted.low95)
    close(interval(mean, 0.95).high, wanted.high95)
    close(interval(mean, 0.9).low, wanted.low90)
    close(interval(mean, 0.9).high, wanted.high90)
    close(tTwoSided(mean.mean / mean.standardError, mean.degreesOfFreedom), wanted.p)
    close(detectableDifference(mean), wanted.detectable)
  })

  test('there are 20 tables', () => {
    expect(reference.tables).toHaveLength(20)
  })

  test('clusters of equal size have one degree of freedom fewer than clusters', () => {
    expect(clusteredMean([1, 2, 3, 4, 5, 9], [0, 0, 1, 1, 2, 2]).degreesOfFreedom).toBeCloseTo(2, 12)
  })

  test('one cluster says nothing: its interval has no ends', () => {
    const mean = clusteredMean([1, 2, 3], [0, 0, 0])
    expect(mean).toEqual({ mean: 2, standardError: 0, degreesOfFreedom: 0, values: 3, clusters: 1 })
    expect(interval(mean, 0.95)).toEqual({ low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY })
    expect(detectableDifference(mean)).toBeUndefined()
  })

  test('half the detectable difference takes four times the sessions', () => {
    const mean = clusteredMean([0.1, -0.2, 0.3, 0, 0.1, -0.4], [0, 1, 2, 3, 4, 5])
    expect(sessionsNeeded(mean, (detectableDifference(mean) ?? 0) / 2)).toBeGreaterThanOrEqual(24)
    expect(sessionsNeeded(mean, (detectableDifference(mean) ?? 0) / 2)).toBeLessThanOrEqual(25)
  })
})

describe('the difference of two samples', () => {
  test.each(reference.twoSamples.map((table) => [table.design, table] as const))(
    'equals CR2 and Bell–McCaffrey of the regression on the arm: %s',
    (_, { values, clusters, arm, expect: wanted }) => {
      const sample = (which: number): Sample => {
        const at = arm.flatMap((value, index) => (value === which ? [index] : []))
        const first = Math.min(...at.map((index) => clusters[index] ?? 0))
        return { values: at.map((index) => values[index] ?? 0), sessionOf: at.map((index) => (clusters[index] ?? 0) - first) }
      }
      const difference = twoSampleDifference(sample(0), sample(1))
      close(difference.mean, wanted.mean)
      close(difference.standardError, wanted.standardError)
      close(difference.degreesOfFreedom, wanted.degreesOfFreedom)
      close(interval(difference, 0.95).low, wanted.low95)
      close(interval(difference, 0.9).high, wanted.high90)
      close(twoSampleEstimate(sample(0), sample(1)).p, wanted.p)
    },
  )
})

describe('what is shown beside it', () => {
  test.each(reference.signTest)(
    'the sign test and exact McNemar of $wins against $losses equal SciPy and statsmodels',
    ({ wins, losses, p, mcnemar }) => {
      close(signTest(wins, losses), p)
      close(signTest(losses, wins), mcnemar)
    },
  )

  test.each(reference.wilson)("Wilson's interval of $successes in $trials equals statsmodels", ({ successes, trials, low, high }) => {
    close(wilson(successes, trials).low, low)
    close(wilson(successes, trials).high, high)
  })

  test.each(reference.holm)('Holm of $p equals statsmodels', ({ p, adjusted }) => {
    for (const [at, value] of holm(p).entries()) close(value, adjusted[at] ?? Number.NaN)
  })

  test('pass^1 to pass^4 of the published rewards are .420 .273 .220 .200', async () => {
    const byTask = new Map<number, number[]>()
    for (const { taskId, reward } of await tauBenchEpisodes()) byTask.set(taskId, [...(byTask.get(taskId) ?? []), reward])
    const rates = passRates([...byTask.values()])
    expect(rates.map(({ passHat }) => passHat.toFixed(3))).toEqual(['0.420', '0.273', '0.220', '0.200'])
    expect(rates[0]?.passAt).toBeCloseTo(0.42, 12)
    expect(rates[3]?.passAt).toBeCloseTo([...byTask.values()].filter((rewards) => rewards.includes(1)).length / 50, 12)
  })

  test('a repeat without a score is no try', () => {
    expect(passRates([[1, null, 0], [1]])).toEqual([
      { k: 1, passHat: 0.75, passAt: 0.75, tasks: 2 },
      { k: 2, passHat: 0, passAt: 1, tasks: 1 },
    ])
  })

  test('the cluster bootstrap lies near the t interval on a large table, and is the same for the same seed', () => {
    const table = reference.tables.find(({ design }) => design === '75 clusters, one')
    if (!table) throw new Error('no table')
    const made = clusterBootstrap(table.values, table.clusters, { seed: 3 })
    expect(made).toEqual(clusterBootstrap(table.values, table.clusters, { seed: 3 }))
    expect(Math.abs(made.low - table.expect.low95)).toBeLessThan(0.02)
    expect(Math.abs(made.high - table.expect.high95)).toBeLessThan(0.02)
  })
})
