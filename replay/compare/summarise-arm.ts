// One arm by itself: score with its interval, pass rates, what it cost and took, where it left the tape, and which scores are missing.

import type { Asked } from '../rubric/bill.ts'
import { quantileOfSorted } from './bootstrap.ts'
import { clusteredMean, interval } from './clustered-mean.ts'
import { passRates } from './pass-rates.ts'
import type { ArmTotals, Tally, TaskTally } from './tally.ts'
import type { ArmSource, ArmSummary, Spread } from './types.ts'
import { wilson } from './wilson.ts'

/** @param planned outcomes that the arm should have */
export function summariseArm(tally: Tally, arm: ArmSource, planned: number): ArmSummary {
  const byTask = tally.arms.get(arm.name) ?? new Map<string, TaskTally>()
  const totals = tally.totals.get(arm.name)
  if (!totals) throw new Error(`no arm ${arm.name}`)
  const tries = [...byTask.values()]
  const scored = tries.flatMap((task) => task.scores.filter((score) => score !== null))
  const costs = tries.flatMap((task) => task.costs.filter((cost) => cost !== undefined))
  const cost = spread(costs)
  const inputTokens = spread(totals.inputTokens)
  const outputTokens = spread(totals.outputTokens)
  const binary = scored.length > 0 && scored.every((score) => score === 0 || score === 1)
  const passes = scored.filter((score) => score === 1).length
  return {
    name: arm.name,
    description: arm.description,
    outcomes: totals.outcomes,
    planned,
    score: meanScore(tally, byTask),
    passRates: passRates(tries.map((task) => task.scores)),
    ...(binary && { wilson: { rate: passes / scored.length, ...wilson(passes, scored.length), trials: scored.length } }),
    nulls: {
      count: totals.nulls,
      share: totals.outcomes === 0 ? 0 : totals.nulls / totals.outcomes,
      reasons: [...totals.nullReasons].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count),
    },
    errors: totals.errors,
    stops: Object.fromEntries([...totals.stops].toSorted(([, a], [, b]) => b - a)),
    offTape: {
      outcomes: totals.offTapeOutcomes,
      share: totals.outcomes === 0 ? 0 : totals.offTapeOutcomes / totals.outcomes,
      calls: totals.offTapeCalls,
    },
    userTurns: {
      ...totals.userTurns,
      share: totals.userTurns.served === 0 ? 0 : totals.userTurns.afterDivergence / totals.userTurns.served,
    },
    unconsumedWrites: totals.unconsumedWrites,
    staleReads: totals.staleReads,
    ...(cost && { cost: { ...cost, total: costs.reduce((sum, value) => sum + value, 0) } }),
    ...askedOf(totals),
    ...(inputTokens && { inputTokens }),
    ...(outputTokens && { outputTokens }),
    durationMs: spread(tries.flatMap((task) => task.durations)) ?? { mean: 0, p50: 0, p95: 0, known: 0 },
    criteria: Object.fromEntries(tally.criteria.map(({ name, weight }, at) => [name, criterion(tries, at, weight)])),
  }
}

function askedOf({ judges, simulators }: ArmTotals): Pick<ArmSummary, 'judges' | 'simulators'> {
  const shown = ({ calls, usd }: Asked) => ({ calls, ...(usd === undefined ? {} : { usd }) })
  return { ...(judges.calls > 0 && { judges: shown(judges) }), ...(simulators.calls > 0 && { simulators: shown(simulators) }) }
}

function meanScore(tally: Tally, byTask: Map<string, TaskTally>): ArmSummary['score'] {
  const values: number[] = []
  const sessionOf: number[] = []
  const numbers = new Map<string, number>()
  for (const { task, session } of tally.tasks) {
    const scores = (byTask.get(task)?.scores ?? []).filter((score) => score !== null)
    if (scores.length === 0) continue
    const number = numbers.get(session) ?? numbers.size
    numbers.set(session, number)
    values.push(scores.reduce((sum, score) => sum + score, 0) / scores.length)
    sessionOf.push(number)
  }
  if (values.length === 0) return { mean: null, low: 0, high: 1, tasks: 0 }
  const mean = clusteredMean(values, sessionOf)
  const { low, high } = interval(mean, 0.95)
  // Scores lie in [0, 1]; so does what an interval can say about them.
  return { mean: mean.mean, low: Math.max(0, low), high: Math.min(1, high), tasks: values.length }
}

function criterion(tries: readonly TaskTally[], at: number, weight: number) {
  const values = tries.flatMap((task) => task.criteria[at] ?? [])
  const known = values.filter((value) => value !== null)
  return {
    weight,
    mean: known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length,
    nulls: values.length - known.length,
  }
}

function spread(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((a, b) => a - b)
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    p50: quantileOfSorted(sorted, 0.5),
    p95: quantileOfSorted(sorted, 0.95),
    known: values.length,
  }
}
