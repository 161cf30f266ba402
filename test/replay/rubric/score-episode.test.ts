import { expect, test } from 'vitest'
import { scoreEpisode, weightedScore } from '../../../replay/rubric/index.ts'
import { sampleEpisode, sampleTask } from './sample.ts'

const s = (value: number | null, weight: number) => ({ value, weight, reason: '' })

test('the score is the weighted mean', () => {
  expect(weightedScore([s(1, 3), s(0.5, 1)])).toBe(0.875)
})

test('one criterion without a value leaves the whole without one, unless it weighs nothing', () => {
  expect(weightedScore([s(1, 1), s(null, 1)])).toBeNull()
  expect(weightedScore([s(1, 1), s(null, 0)])).toBe(1)
  expect(weightedScore([s(1, 0)])).toBeNull()
})

test('each criterion is reported by its name, with weight and reason', async () => {
  const rubric = {
    criteria: [
      { name: 'right', type: 'equals' as const, weight: 2, value: 'a' },
      { name: 'short', type: 'steps' as const, weight: 0, max: 1 },
    ],
  }
  expect(
    await scoreEpisode(rubric, { episode: sampleEpisode({ output: 'a' }), task: sampleTask(), tools: {}, costUsd: undefined }),
  ).toEqual({
    scores: { right: { value: 1, weight: 2, reason: 'equal' }, short: { value: 1, weight: 0, reason: '0 steps, limit 1 steps' } },
    score: 1,
  })
})

test('a grader that throws gives null with the reason, never 0', async () => {
  const rubric = { criteria: [{ name: 'broken', type: 'matches' as const, weight: 1, pattern: '(', flags: '' }] }
  const { scores, score } = await scoreEpisode(rubric, {
    episode: sampleEpisode({ output: 'a' }),
    task: sampleTask(),
    tools: {},
    costUsd: undefined,
  })
  expect(score).toBeNull()
  expect(scores['broken']?.reason).toMatch(/^the grader failed: Invalid regular expression/)
})
