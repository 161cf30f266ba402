// Whether a candidate may go live, from a comparison and the rules: a list of checks, each with its reason. Pure.

import { interval } from '../../replay/compare/clustered-mean.ts'
import type { Comparison, PairComparison } from '../../replay/compare/index.ts'
import type { GateCheck, GateRules } from './types.ts'

export interface Decision {
  promoted: boolean
  /** At this gate's level. */
  interval: { delta: number; low: number | null; high: number | null; level: number }
  checks: GateCheck[]
}

export interface DecisionInput {
  comparison: Comparison
  pair: PairComparison
  rules: GateRules
  /** The probability that this gate may err with. */
  level: number
  /** What `env audit` found; undefined where there was none since the build. */
  audit: { clean: boolean; says: string } | undefined
}

/** Promoted only where every check passed. */
export function decide(input: DecisionInput): Decision {
  const { pair, rules } = input
  const at = intervalAt(pair, input.level)
  const candidate = input.comparison.arms.find((arm) => arm.name === pair.candidate)
  const baseline = input.comparison.arms.find((arm) => arm.name === pair.baseline)
  const checks: GateCheck[] = [gain(input, at), ...nonInferior(pair, rules)]
  if (candidate !== undefined && baseline !== undefined) {
    const errors = candidate.outcomes === 0 ? 1 : candidate.errors / candidate.outcomes
    checks.push(limit('errors', errors, rules.errorShare, percent))
    if (rules.offTapeShare !== undefined) checks.push(limit('off tape', candidate.offTape.share, rules.offTapeShare, percent))
    if (rules.costRatio !== undefined) {
      checks.push(limit('cost', ratio(candidate.cost?.mean, baseline.cost?.mean), rules.costRatio, times))
    }
    if (rules.latencyRatio !== undefined) {
      checks.push(limit('latency', ratio(candidate.durationMs.p95, baseline.durationMs.p95), rules.latencyRatio, times))
    }
  }
  if (rules.audit) {
    checks.push({ rule: 'audit', passed: input.audit?.clean === true, says: input.audit?.says ?? 'the environment was not audited' })
  }
  return { promoted: checks.every((check) => check.passed), interval: at, checks }
}

function intervalAt(pair: PairComparison, level: number): Decision['interval'] {
  const { delta, standardError, degreesOfFreedom, tasks, sessions } = pair.primary
  const { low, high } = interval({ mean: delta, standardError, degreesOfFreedom, values: tasks, clusters: sessions }, 1 - level)
  return { delta, low: finite(low), high: finite(high), level: 1 - level }
}

/** The score's difference. What makes a comparison say nothing (unfinished, censored, few sessions) makes a gate say no. */
function gain({ pair, rules, level }: DecisionInput, at: Decision['interval']): GateCheck {
  const { reason } = pair.verdict
  const silent = ['unfinished', 'censored', 'off-script', 'too-few-sessions', 'zero-variance', 'identical']
  const shown = `${signed(at.delta)} [${at.low === null ? '-∞' : signed(at.low)}, ${at.high === null ? '∞' : signed(at.high)}] at ${(at.level * 100).toFixed(2)} %`
  if (silent.includes(reason)) return { rule: 'gain', passed: false, says: `${pair.sentence} (${reason})` }
  if (pair.primary.method === 'sign-test') {
    const passed = pair.primary.p < level && at.delta > rules.minimalGain
    return { rule: 'gain', passed, says: `${shown}; nothing varies, and the sign test gives p ${pair.primary.p.toPrecision(2)}` }
  }
  const passed = at.low !== null && at.low > rules.minimalGain
  const wanted = rules.minimalGain === 0 ? 'above 0' : `above ${signed(rules.minimalGain)}`
  return { rule: 'gain', passed, says: `${shown}; its lower end has to be ${wanted}` }
}

function nonInferior(pair: PairComparison, rules: GateRules): GateCheck[] {
  return Object.entries(rules.nonInferior).map(([name, { margin }]) => {
    const rule = `not worse: ${name}`
    const criterion = pair.criteria.find((each) => each.name === name)
    if (criterion === undefined) return { rule, passed: false, says: 'the rubric has no such criterion' }
    const says = `${signed(criterion.delta)} [${signed(criterion.low)}, ${signed(criterion.high)}]; its lower end has to be above ${signed(-margin)}`
    return { rule, passed: criterion.low > -margin, says }
  })
}

function limit(rule: string, value: number | undefined, most: number, show: (value: number) => string): GateCheck {
  if (value === undefined) return { rule, passed: false, says: 'unknown for one of the arms' }
  return { rule, passed: value <= most, says: `${show(value)}, at most ${show(most)}` }
}

function ratio(candidate: number | undefined, baseline: number | undefined): number | undefined {
  if (candidate === undefined || baseline === undefined) return undefined
  return baseline === 0 ? (candidate === 0 ? 1 : undefined) : candidate / baseline
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(3)}`
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`
}

function times(value: number): string {
  return `${value.toFixed(2)} x`
}
