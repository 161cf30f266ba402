import { describe, expect, it } from 'vitest'
import { compareRun } from '../../../replay/compare/index.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { decide } from '../../../tune/gate/decide.ts'
import { type GateRules, gateRulesSchema, levelOf } from '../../../tune/gate/index.ts'
import { sampleRun } from '../../replay/compare/sample-run.ts'

interface Case {
  rules?: Partial<GateRules>
  gate?: number
  tasks?: number
  audit?: { clean: boolean; says: string }
  rollout?: (place: { task: number; arm: string }) => Partial<Rollout>
}

/** The candidate `b` passes four tasks in five, the baseline `a` one in five. */
async function failed({ rules = {}, gate = 1, tasks = 20, audit, rollout }: Case = {}): Promise<string[]> {
  const run = sampleRun({
    tasks,
    rollout: (place) => ({ score: (place.task % 5 === 0) === (place.arm === 'a') ? 1 : 0, ...rollout?.(place) }),
  })
  const comparison = await compareRun(run)
  const pair = comparison.pairs[0]
  if (pair === undefined) throw new Error('no pair')
  const decision = decide({ comparison, pair, rules: { ...gateRulesSchema.parse({}), ...rules }, level: levelOf(gate), audit })
  expect(decision.promoted).toBe(decision.checks.every((check) => check.passed))
  return decision.checks.filter((check) => !check.passed).map((check) => check.rule)
}

describe('decide', () => {
  it('promotes a candidate that is better and breaks no rule', async () => {
    expect(await failed()).toEqual([])
  })

  it('asks for more the more often the split was looked at: the levels of all gates add up to 0.05', async () => {
    expect([1, 2, 3].map(levelOf)).toEqual([0.025, 0.0125, 0.00625])
    expect(await failed({ tasks: 15 })).toEqual([])
    expect(await failed({ tasks: 15, gate: 6 })).toEqual(['gain'])
  })

  it('does not promote what is only equal, or better by less than the rules ask', async () => {
    expect(await failed({ rollout: ({ task }) => ({ score: task % 2 }) })).toEqual(['gain'])
    expect(await failed({ rules: { minimalGain: 0.5 } })).toEqual(['gain'])
  })

  it('does not promote on a comparison that says nothing', async () => {
    expect(await failed({ tasks: 4 })).toEqual(['gain'])
  })

  it('names each rule that is broken', async () => {
    const rules: Partial<GateRules> = {
      nonInferior: { polite: { margin: 0.1 }, unheard: { margin: 0.1 } },
      costRatio: 2,
      latencyRatio: 2,
      offTapeShare: 0.1,
      audit: true,
    }
    const rollout: Case['rollout'] = ({ arm, task }) => ({
      scores: { polite: { value: arm === 'a' ? 1 : task % 2, weight: 0, reason: 'so' } },
      costUsd: arm === 'a' ? 0.01 : 0.03,
      durationMs: arm === 'a' ? 1000 : 3000,
      offTape: { count: arm === 'a' ? 0 : 1 },
      ...(arm === 'b' && task % 10 === 1 ? { error: { type: 'timeout', message: 'too slow' } } : {}),
    })
    expect(await failed({ rules, rollout })).toEqual([
      'not worse: polite',
      'not worse: unheard',
      'errors',
      'off tape',
      'cost',
      'latency',
      'audit',
    ])
    expect(await failed({ rules: { audit: true }, audit: { clean: true, says: 'clean' } })).toEqual([])
  })
})
