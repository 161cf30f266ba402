import type { Episode } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import type { Reference } from '../../../replay/environment/types.ts'
import { gradeCriterion, parseRubric, type Score } from '../../../replay/rubric/index.ts'
import { modelStep, sampleEpisode, sampleTask, toolStep } from './sample.ts'

async function grade(criterion: object, episode: Partial<Episode>, more: { reference?: Reference; costUsd?: number } = {}): Promise<Score> {
  const [parsed] = parseRubric({ criteria: [{ name: 'it', ...criterion }] }, 'rubric.json').criteria
  if (!parsed) throw new Error('no criterion')
  return gradeCriterion(parsed, { episode: sampleEpisode(episode), task: sampleTask(more.reference), tools: {}, costUsd: more.costUsd })
}
const score = (value: number | null, reason: string): Score => ({ value, weight: 1, reason })

describe('equals', () => {
  test('compares text without white space at the ends, and in one Unicode form', async () => {
    expect(await grade({ type: 'equals', value: 'caf\u00e9' }, { output: ' cafe\u0301\n' })).toEqual(score(1, 'equal'))
    expect(await grade({ type: 'equals', value: 'a' }, { output: 'b' })).toEqual(score(0, 'expected "a", found "b"'))
  })
  test('reads JSON out of the last answer where a JSON value is wanted', async () => {
    const steps = [modelStep('```json\n{"b":2,"a":1.0}\n```')]
    expect(await grade({ type: 'equals' }, { steps }, { reference: { output: { a: 1, b: 2 } } })).toEqual(score(1, 'equal'))
    expect(await grade({ type: 'equals', value: 2, path: 'b' }, { steps })).toEqual(score(1, 'equal'))
    expect(await grade({ type: 'equals', value: 2, path: 'c.d' }, { steps })).toEqual(score(0, 'the answer has no value at c.d'))
    expect(await grade({ type: 'equals', value: 2 }, { output: 'two' })).toEqual(score(0, 'the answer is not JSON'))
  })
  test('takes the trace id that a rollout says of itself for the one of its recording', async () => {
    const [own, recorded] = ['d'.repeat(32), 'a'.repeat(32)]
    const reference = { output: { text: 'Done.', trace: recorded } }
    expect(await grade({ type: 'equals' }, { trace: own, output: { text: 'Done.', trace: own } }, { reference })).toEqual(score(1, 'equal'))
    const other = await grade({ type: 'equals' }, { trace: own, output: { text: 'Done.', trace: 'e'.repeat(32) } }, { reference })
    expect(other.value).toBe(0)
  })
  test('has no score without a reference, and none where there is no answer', async () => {
    expect(await grade({ type: 'equals' }, { output: 'a' })).toEqual(score(null, 'no value is given and the task has no reference output'))
    expect(await grade({ type: 'equals', value: 'a' }, {})).toEqual(
      score(null, 'no model call was answered and the agent returned nothing'),
    )
    const failed = modelStep('', { error: { type: '500', message: 'down' } })
    expect(await grade({ type: 'equals', value: 'a' }, { steps: [modelStep('a'), failed] })).toEqual(
      score(null, 'the last model call failed with 500: down'),
    )
  })
})

describe('contains', () => {
  test.each([
    ['Your total is $1,327.50 today.', '1327.50', 1],
    ['Your total is $1,327.', '327', 0],
    ['Your total is 327.00.', '$327', 1],
    ['Gate HAT327', '327', 0],
    ['The IP is 10.327.1.2', '327', 0],
    ['It  takes\nlong', 'TAKES LONG', 1],
    ['nothing', 'not', 1],
  ])('%j says %j: %d', async (output, value, expected) => {
    expect((await grade({ type: 'contains', values: [value] }, { output })).value).toBe(expected)
  })
  test('keeps letter case where it is told to', async () => {
    expect(await grade({ type: 'contains', values: ['ok', 'OK'], caseSensitive: true }, { output: 'OK' })).toEqual(
      score(0, 'does not say "ok"'),
    )
  })
  test('finds values in an answer that is an object', async () => {
    expect((await grade({ type: 'contains', values: ['refunded'] }, { output: { reply: 'Refunded.', id: 1 } })).value).toBe(1)
  })
})

describe('matches and json', () => {
  test('a pattern is searched for in the answer', async () => {
    expect(await grade({ type: 'matches', pattern: '^\\d+$', flags: 'm' }, { output: 'a\n12' })).toEqual(score(1, 'matches at 2'))
    expect(await grade({ type: 'matches', pattern: '^\\d+$' }, { output: 'a' })).toEqual(score(0, 'does not match /^\\d+$/'))
  })
  test('an answer is checked against a JSON Schema, and the reason names the path', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    expect((await grade({ type: 'json', schema }, { output: '{"n":1}' })).value).toBe(1)
    const wrong = await grade({ type: 'json', schema }, { output: { n: 'x' } })
    expect(wrong.value).toBe(0)
    expect(wrong.reason).toContain('at n')
    expect(await grade({ type: 'json' }, { output: 'x' })).toEqual(score(0, 'the answer is not JSON'))
  })
})

describe('tools', () => {
  const steps = [toolStep('a', { x: { y: 1, z: 2 } }), toolStep('b', {}, { error: 'no' }), toolStep('a', {})]
  test('tool_called counts calls whose arguments include those wanted', async () => {
    expect(await grade({ type: 'tool_called', tool: 'a', min: 3 }, { steps })).toEqual(
      score(0, 'a called 2 times, wanted at least 3 times'),
    )
    expect((await grade({ type: 'tool_called', tool: 'a', arguments: { x: { y: 1 } } }, { steps })).value).toBe(1)
    expect((await grade({ type: 'tool_called', tool: 'a', arguments: { x: 1 } }, { steps })).value).toBe(0)
    expect((await grade({ type: 'tool_called', tool: 'b' }, { steps })).value).toBe(1)
  })
  test('no_tool_called names what was called', async () => {
    expect(await grade({ type: 'no_tool_called', tools: ['b', 'c'] }, { steps })).toEqual(score(0, 'called b'))
    expect((await grade({ type: 'no_tool_called', tools: ['c'] }, { steps })).value).toBe(1)
    expect(await grade({ type: 'no_tool_called' }, { steps })).toEqual(score(0, 'called a, b'))
  })
  test('tool_sequence lets others lie between and says where it broke', async () => {
    expect((await grade({ type: 'tool_sequence', tools: ['a', 'a'] }, { steps })).value).toBe(1)
    expect(await grade({ type: 'tool_sequence', tools: ['b', 'b'] }, { steps })).toEqual(score(0, 'after b, b was not called'))
  })
})

describe('feedback', () => {
  const said = (value: number | boolean | string, at: string, stepId?: string) => ({
    name: 'stars',
    value,
    source: 'user',
    at,
    ...(stepId && { stepId }),
  })
  test('takes the last word about the episode, over max, held to [0, 1]', async () => {
    const feedback = [said(4, '2026-01-02'), said(1, '2026-01-01'), said(5, '2026-01-03', 'c'.repeat(16))]
    expect(await grade({ type: 'feedback', feedback: 'stars', max: 5 }, { feedback })).toEqual(score(0.8, 'stars = 4, by user'))
    expect((await grade({ type: 'feedback', feedback: 'stars' }, { feedback: [said(-3, '')] })).value).toBe(0)
    expect((await grade({ type: 'feedback', feedback: 'stars' }, { feedback: [said(true, '')] })).value).toBe(1)
  })
  test('has no score without feedback, or with words', async () => {
    expect(await grade({ type: 'feedback', feedback: 'stars' }, {})).toEqual(score(null, 'no feedback named stars'))
    expect((await grade({ type: 'feedback', feedback: 'stars' }, { feedback: [said('good', '')] })).value).toBeNull()
  })
})

describe('cost, latency and steps', () => {
  test('are 1 up to the limit and 0 above it', async () => {
    expect(await grade({ type: 'cost', max: 0.5 }, {}, { costUsd: 0.5 })).toEqual(score(1, '0.500 USD, limit 0.500 USD'))
    expect((await grade({ type: 'cost', max: 0.5 }, {}, { costUsd: 0.51 })).value).toBe(0)
    expect((await grade({ type: 'latency', max: 1000 }, { durationMs: 1000 })).value).toBe(1)
    expect((await grade({ type: 'latency', max: 999 }, { durationMs: 1000 })).value).toBe(0)
    expect(await grade({ type: 'steps', max: 1 }, { steps: [modelStep(''), toolStep('a', {})] })).toEqual(
      score(0, '2 steps, limit 1 steps'),
    )
  })
  test('a cost that is not known gives no score', async () => {
    expect((await grade({ type: 'cost', max: 0.5 }, {})).value).toBeNull()
  })
})
