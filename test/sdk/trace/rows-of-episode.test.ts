import { assembleEpisodes, type Episode, feedbackRowsOfEpisode, rowsOfEpisode, type Step } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spanId } from '../../support/span-rows.ts'
import { anyEpisode, anyJson, at, episode, modelCall, text, trace } from './episode-fixtures.ts'

const back = (given: Episode) => assembleEpisodes(rowsOfEpisode(given), feedbackRowsOfEpisode(given))

describe('rowsOfEpisode', () => {
  test('gives rows that assemble to the same episode, of whatever its calls consist', () => {
    fc.assert(
      fc.property(anyEpisode, fc.option(anyJson, { nil: undefined }), (calls, output) => {
        // A row has one span id, and the run went on with what its later calls show.
        const steps = calls.steps.map((step, index): Step => {
          if (step.kind !== 'model') return step
          const { chosen: _, ...call } = step
          const response = call.response && {
            ...call.response,
            outputs: call.response.outputs.slice(0, 1),
            finishReasons: call.response.finishReasons.slice(0, 1),
          }
          return { ...call, ...(response && { response }), id: spanId(index + 2), parent: spanId(1) }
        })
        const given = episode(steps, { agent: { name: 'desk' }, ...(output === undefined ? {} : { output }) })
        expect(back(given)).toEqual(steps.length === 0 ? [{ ...given }] : [given])
      }),
      { numRuns: 200 },
    )
  })

  test('keeps every field of every kind of step, the feedback and the source', () => {
    const base = { startedAt: at, durationMs: 1.25 }
    const given = episode(
      [
        modelCall(spanId(2), [text('user', 'hi')], [text('assistant', 'a'), text('assistant', 'b')], {
          parent: spanId(1),
          attempts: 3,
          chosen: 1,
          partial: true,
          firstChunkMs: 4,
          tokens: { promptIds: [1], completionIds: [2], logprobs: [-1] },
        }),
        {
          ...base,
          kind: 'tool',
          id: spanId(3),
          parent: spanId(2),
          name: 'look',
          callId: 'c',
          arguments: { a: null },
          result: '',
          effect: 'read',
          offTape: 'nearest',
        },
        { ...base, kind: 'io', id: spanId(4), parent: spanId(1), name: 'profile', key: 'u', result: null },
        { ...base, kind: 'agent', id: spanId(5), parent: spanId(1), name: 'helper', input: 1, output: false },
        modelCall(spanId(6), [text('user', 'hi'), text('assistant', 'b')], [], {
          parent: spanId(5),
          api: 'vercel-ai',
          error: { type: '500', message: 'no' },
        }),
      ],
      {
        agent: { name: 'desk', version: '3', arguments: 2 },
        session: 's',
        user: 'u',
        tags: { plan: 'gold', 'variant.prompt': 'short' },
        input: { q: 1 },
        error: { type: 'Error', message: 'late' },
        feedback: [
          { name: 'reward', value: 0, source: 'tau', at },
          { name: 'reward', value: true, comment: 'c', source: 'tau', at, stepId: spanId(3) },
        ],
        source: { kind: 'rollout', ref: 'x', run: 'r', arm: 'a', task: 't', repeat: 0 },
      },
    )
    expect(back(given)).toEqual([given])
  })

  test("writes a call's bodies in its own dialect where that says all of it", () => {
    const [call] = rowsOfEpisode(episode([modelCall(spanId(2), [text('user', 'hi')], [text('assistant', 'yes')])]))
    expect(JSON.parse(call?.requestBody ?? '')).toEqual({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] })
    expect(JSON.parse(call?.responseBody ?? '')).toMatchObject({ choices: [{ message: { content: 'yes' } }] })
  })

  test('keeps the feedback of an episode that shares its trace', () => {
    const given = episode([], { id: 'c'.repeat(32), agent: { name: 'x' }, feedback: [{ name: 'n', value: 1, source: 's', at }] })
    expect(feedbackRowsOfEpisode(given)).toMatchObject([{ traceId: trace, stepId: expect.stringMatching(/^[0-9a-f]{16}$/) }])
    expect(rowsOfEpisode(given)[0]?.spanId).toBe(feedbackRowsOfEpisode(given)[0]?.stepId)
  })
})
