import { describe, expect, test } from 'vitest'
import { type Comparison, compareRun, type PairComparison } from '../../../replay/compare/index.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { sampleRun } from './sample-run.ts'

function onlyPair(comparison: Comparison): PairComparison {
  const [pair, ...more] = comparison.pairs
  if (!pair || more.length > 0) throw new Error('expected one pair')
  return pair
}

/** b passes three more tasks in four than a does. */
const better = ({ task, arm }: { task: number; arm: string }): Partial<Rollout> => ({ score: arm === 'b' && task % 4 !== 0 ? 1 : 0 })

describe('compareRun', () => {
  test('pairs by task, averages repeats, clusters by session and gives the verdict', async () => {
    const pair = onlyPair(await compareRun(sampleRun({ repeats: 2, sessionSize: 2, rollout: better })))
    expect(pair.verdict).toEqual({ word: 'better', reason: 'interval' })
    expect(pair.primary).toMatchObject({ delta: 0.75, tasks: 20, sessions: 10, method: 't' })
    expect(pair.primary.degreesOfFreedom).toBeCloseTo(9, 9)
    expect(pair.tasks[1]).toEqual({
      task: 'task-1',
      session: 'session-0',
      baseline: 0,
      candidate: 1,
      delta: 1,
      offTape: { baseline: 0, candidate: 0 },
    })
    expect(pair.sentence).toMatch(/^b is better than a: \+0\.750/)
  })

  test('an arm against itself is equivalent, and the same run twice gives the same object', async () => {
    const run = sampleRun({ rollout: ({ task }) => ({ score: task % 2 }) })
    const comparison = await compareRun(run)
    expect(onlyPair(comparison).verdict).toEqual({ word: 'equivalent', reason: 'identical' })
    expect(await compareRun(run)).toEqual(comparison)
  })

  test('one session says nothing: no bootstrap of it, and one sentence that says so', async () => {
    const { pairs } = await compareRun(sampleRun({ tasks: 1, rollout: ({ arm }) => ({ score: arm === 'a' ? 0 : 1 }) }))
    expect(pairs[0]?.sentence).toBe('b against a is inconclusive: 1 session is fewer than 6.')
    expect(pairs[0]?.shown.bootstrap).toBeUndefined()
  })

  test('all pairs against one baseline where there are more arms', async () => {
    const comparison = await compareRun(sampleRun({ arms: ['a', 'b', 'c', 'd'], rollout: better }), { baseline: 'c' })
    expect(comparison.pairs.map(({ baseline, candidate, verdict }) => [baseline, candidate, verdict.word])).toEqual([
      ['c', 'a', 'equivalent'],
      ['c', 'b', 'better'],
      ['c', 'd', 'equivalent'],
    ])
  })

  test('an unfinished run has no verdict, and a note says what is missing', async () => {
    const comparison = await compareRun(sampleRun({ missing: 1, rollout: better }))
    expect(onlyPair(comparison).verdict).toEqual({ word: 'none', reason: 'unfinished' })
    expect(comparison.notes[0]).toBe('b has 19 of 20 planned outcomes.')
  })

  test('a missing score is left out, counted with its reason, and never read as 0', async () => {
    const comparison = await compareRun(
      sampleRun({ rollout: (at) => (at.arm === 'b' && at.task === 3 ? { score: null, stop: 'timeout' } : better(at)) }),
    )
    const pair = onlyPair(comparison)
    expect(pair.primary.tasks).toBe(19)
    expect(pair.tasks[3]).toMatchObject({ candidate: null, delta: null })
    expect(comparison.arms[1]?.nulls).toEqual({ count: 1, share: 0.05, reasons: [{ reason: 'timeout', count: 1 }] })
    expect(pair.verdict.word).toBe('better')
    expect(pair.shown.nullsAsZero.delta).toBeCloseTo(0.7, 12)
    expect(comparison.notes).toEqual([
      'b has no score for 1 of 20 outcomes: timeout (1).',
      '1 of 20 tasks are left out of b against a: one side has no score there.',
    ])
  })

  test('many missing scores that could turn the verdict make it censored', async () => {
    const rollout = (at: { task: number; arm: string }): Partial<Rollout> => (at.task >= 12 ? { score: null } : better(at))
    const pair = onlyPair(await compareRun(sampleRun({ rollout })))
    expect(pair.verdict).toEqual({ word: 'inconclusive', reason: 'censored' })
    expect(pair.shown.worst?.delta).toBeLessThan(pair.shown.best?.delta ?? Number.NaN)
  })

  test('user turns served after divergence make it off-script', async () => {
    const rollout = (at: { task: number; arm: string }) => ({
      ...better(at),
      userTurns: { served: 4, afterDivergence: at.arm === 'b' ? 1 : 0 },
    })
    expect(onlyPair(await compareRun(sampleRun({ rollout }))).verdict).toEqual({ word: 'inconclusive', reason: 'off-script' })
  })

  test('McNemar is shown where each session is one task with one repeat of 0 or 1, and nowhere else', async () => {
    expect(onlyPair(await compareRun(sampleRun({ rollout: better }))).shown.mcnemar).toEqual({
      wins: 15,
      losses: 0,
      p: expect.closeTo(2 ** -14, 12),
    })
    for (const options of [{ repeats: 2 }, { sessionSize: 2 }])
      expect(onlyPair(await compareRun(sampleRun({ ...options, rollout: better }))).shown.mcnemar).toBeUndefined()
    const half = (at: { task: number; arm: string }) => ({ score: at.task === 0 ? 0.5 : (better(at).score ?? null) })
    expect(onlyPair(await compareRun(sampleRun({ rollout: half }))).shown.mcnemar).toBeUndefined()
  })

  test('on-tape only leaves out rollouts that left the tape', async () => {
    const rollout = (at: { task: number; arm: string }): Partial<Rollout> => ({
      ...better(at),
      offTape: at.task === 1 && at.arm === 'b' ? { count: 2, first: 1 } : { count: 0 },
    })
    const comparison = await compareRun(sampleRun({ rollout }))
    const pair = onlyPair(comparison)
    expect(pair.shown.onTapeOnly).toMatchObject({ tasks: 19 })
    expect(comparison.arms[1]?.offTape).toEqual({ outcomes: 1, share: 0.05, calls: 2 })
    expect(pair.tasks[1]?.offTape).toEqual({ baseline: 0, candidate: 2 })
    expect(comparison.notes).toEqual([])
  })

  test('an arm that often leaves the tape is noted', async () => {
    const rollout = (at: { task: number; arm: string }): Partial<Rollout> => ({
      ...better(at),
      offTape: at.task < 4 && at.arm === 'b' ? { count: 1, first: 1 } : { count: 0 },
    })
    expect((await compareRun(sampleRun({ rollout }))).notes).toEqual([
      'b left the tape in 4 of 20 outcomes: tools answered it with errors that production may not give. Compare "on tape only", record more like it, or mock those tools.',
    ])
  })

  test('criteria are compared each, with p values adjusted for their number', async () => {
    const rollout = (at: { task: number; arm: string }): Partial<Rollout> => ({
      ...better(at),
      scores: {
        right: { value: better(at).score ?? null, weight: 2, reason: '' },
        short: { value: at.task % 2, weight: 0, reason: '' },
      },
    })
    const { criteria } = onlyPair(await compareRun(sampleRun({ rollout })))
    expect(criteria.map(({ name, weight, delta }) => ({ name, weight, delta }))).toEqual([
      { name: 'right', weight: 2, delta: 0.75 },
      { name: 'short', weight: 0, delta: 0 },
    ])
    expect(criteria[0]?.pHolm).toBeCloseTo(2 * (criteria[0]?.p ?? 1), 12)
  })

  test('slices by tag, where a tag has two values or more', async () => {
    const tags = (task: string): Record<string, string> => ({ lang: Number(task.slice(5)) % 4 === 0 ? 'de' : 'en', all: 'same' })
    const { slices } = onlyPair(await compareRun(sampleRun({ rollout: better }), { tags }))
    expect(slices.map(({ tag, value, delta, tasks }) => ({ tag, value, delta, tasks }))).toEqual([
      { tag: 'lang', value: 'de', delta: 0, tasks: 5 },
      { tag: 'lang', value: 'en', delta: 1, tasks: 15 },
    ])
  })

  test('costs, tokens and times are spread over the outcomes that have them', async () => {
    const rollout = (at: { task: number; arm: string }): Partial<Rollout> => ({
      ...better(at),
      costUsd: at.arm === 'b' ? 0.03 : 0.01,
      durationMs: at.task,
    })
    const comparison = await compareRun(sampleRun({ rollout }))
    expect(comparison.arms[1]?.cost).toEqual({
      mean: expect.closeTo(0.03, 12),
      p50: 0.03,
      p95: 0.03,
      known: 20,
      total: expect.closeTo(0.6, 12),
    })
    expect(comparison.arms[0]?.durationMs).toMatchObject({ p50: 9.5, known: 20 })
    expect(onlyPair(comparison).shown.cost?.delta).toBeCloseTo(0.02, 12)
  })

  test('an arm that is not there, or only one arm, is refused by name', async () => {
    const run = sampleRun({ rollout: better })
    await expect(compareRun(run, { candidate: 'z' })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: 'there is no arm named z',
      hint: 'the arms are a, b',
    })
    await expect(compareRun(run, { baseline: 'a', candidate: 'a' })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(compareRun(sampleRun({ arms: ['a'], rollout: better }))).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  test('a task in two sessions is refused: its cluster would not be known', async () => {
    const rollout = ({ arm }: { arm: string }) => ({ score: 1, session: arm })
    await expect(compareRun(sampleRun({ rollout }))).rejects.toMatchObject({ code: 'invalid-input' })
  })

  test('20,000 tasks are compared in seconds', { timeout: 120_000 }, async () => {
    const run = sampleRun({ tasks: 20_000, rollout: ({ task, arm }) => ({ score: (task * 7 + (arm === 'b' ? 1 : 0)) % 3 === 0 ? 1 : 0 }) })
    expect(onlyPair(await compareRun(run)).primary.tasks).toBe(20_000)
  })
})
