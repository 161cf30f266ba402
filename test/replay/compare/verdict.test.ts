import { describe, expect, test } from 'vitest'
import { decide, estimate, type VerdictInput, verdictOf } from '../../../replay/compare/verdict.ts'
import { verdictSentence } from '../../../replay/compare/verdict-sentence.ts'

const sessions = (count: number) => Array.from({ length: count }, (_, at) => at)
const side = (deltas: number[]) => estimate(deltas, sessions(deltas.length))
const verdict = (deltas: number[], margin = 0.05) => verdictOf(estimate(deltas, sessions(deltas.length)), margin)
/** A spread of differences around a middle. */
const around = (middle: number, spread: number, count: number) => sessions(count).map((at) => middle + (at % 2 === 0 ? spread : -spread))

describe('the interval decides', () => {
  test.each([
    ['above 0', around(0.3, 0.1, 20), 'better', 'interval'],
    ['below 0', around(-0.3, 0.1, 20), 'worse', 'interval'],
    ['inside the margin', around(0.001, 0.02, 20), 'equivalent', 'within-margin'],
    ['around 0 and wide', around(0.01, 0.5, 20), 'inconclusive', 'too-wide'],
    // Significant goes before small: the order of the rules.
    ['above 0 though inside the margin', around(0.03, 0.01, 20), 'better', 'interval'],
  ])('%s', (_, deltas, word, reason) => {
    expect(verdict(deltas)).toEqual({ word, reason })
  })

  test('the 90 % interval is asked about the margin, not the 95 % one', () => {
    const deltas = around(0, 0.1, 20)
    const { interval90, interval95 } = estimate(deltas, sessions(20))
    const between = (interval90.high + interval95.high) / 2
    expect(verdict(deltas, between).word).toBe('equivalent')
    expect(verdict(deltas, interval90.high - 1e-9).word).toBe('inconclusive')
  })
})

describe('few sessions and no variance', () => {
  test('five sessions are never enough, six may be', () => {
    expect(verdict([0.3, 0.31, 0.3, 0.31, 0.3])).toEqual({ word: 'inconclusive', reason: 'too-few-sessions' })
    expect(verdict([0.3, 0.31, 0.3, 0.31, 0.3, 0.31]).word).toBe('better')
    expect(verdict([])).toEqual({ word: 'inconclusive', reason: 'too-few-sessions' })
  })

  test('many tasks in few sessions are few sessions', () => {
    const deltas = around(0.5, 0.1, 100)
    const sessionOf = deltas.map((_, at) => at % 5)
    expect(verdictOf(estimate(deltas, sessionOf), 0.05).reason).toBe('too-few-sessions')
  })

  test('where nothing varies the exact sign test over sessions decides', () => {
    expect(verdict([1, 1, 1, 1, 1, 1])).toEqual({ word: 'better', reason: 'sign-test' })
    expect(verdict(around(-0.25, 0, 30))).toEqual({ word: 'worse', reason: 'sign-test' })
    expect(estimate([1, 1, 1, 1, 1, 1], sessions(6)).p).toBeCloseTo(0.03125, 12)
  })

  test('the same score everywhere is equivalent; sums that only cancel are not', () => {
    expect(verdict([0, 0, 0, 0, 0, 0])).toEqual({ word: 'equivalent', reason: 'identical' })
    const deltas = sessions(12).map((at) => (at % 2 === 0 ? 1 : -1))
    const sessionOf = deltas.map((_, at) => Math.floor(at / 2))
    expect(verdictOf(estimate(deltas, sessionOf), 0.05)).toEqual({ word: 'inconclusive', reason: 'zero-variance' })
  })

  test('differences of thirds that differ in the last bit only do not vary', () => {
    const third = 1 / 3
    expect(verdict([third, 2 * third - third, third, 1 - 2 * third, third, third, third])).toEqual({ word: 'better', reason: 'sign-test' })
  })
})

describe('the rules in their order', () => {
  const better = side(around(0.3, 0.1, 20))
  const base: VerdictInput = {
    finished: true,
    nullShare: 0,
    afterDivergenceShare: 0,
    margin: 0.05,
    observed: better,
    worst: better,
    best: better,
  }
  const flat = side(around(0.001, 0.02, 20))

  test('an unfinished run has no verdict, whatever its numbers', () => {
    expect(decide({ ...base, finished: false, nullShare: 1 })).toEqual({ word: 'none', reason: 'unfinished' })
  })

  test('over 5 % of scores missing: the verdict stands only if it holds with them at worst and at best', () => {
    expect(decide({ ...base, nullShare: 0.06, worst: flat })).toEqual({ word: 'inconclusive', reason: 'censored' })
    expect(decide({ ...base, nullShare: 0.06, best: flat })).toEqual({ word: 'inconclusive', reason: 'censored' })
    expect(decide({ ...base, nullShare: 0.06 })).toEqual({ word: 'better', reason: 'interval' })
    expect(decide({ ...base, nullShare: 0.05, worst: flat })).toEqual({ word: 'better', reason: 'interval' })
  })

  test('over 20 % of user turns off script: inconclusive, but censored goes before', () => {
    expect(decide({ ...base, afterDivergenceShare: 0.21 })).toEqual({ word: 'inconclusive', reason: 'off-script' })
    expect(decide({ ...base, afterDivergenceShare: 0.2 }).word).toBe('better')
    expect(decide({ ...base, afterDivergenceShare: 1, nullShare: 1, worst: flat }).reason).toBe('censored')
  })
})

test('the sentence gives the numbers that the verdict rests on', () => {
  const deltas = around(0.3, 0.1, 20)
  const primary = estimate(deltas, sessions(20))
  expect(
    verdictSentence({ word: 'better', reason: 'interval' }, primary, { design: 'paired', baseline: 'a', candidate: 'b', margin: 0.05 }),
  ).toBe('b is better than a: +0.300 (95 % interval +0.252 to +0.348), 20 tasks in 20 sessions.')
})
