import { assembleEpisodes, type FeedbackRow, type SpanRow } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberedRow as row, spanId, traceOfNumbered as trace } from '../../support/span-rows.ts'

const request = (content: string) => JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
const answer = (content: string, ...more: string[]) =>
  JSON.stringify({
    id: 'r',
    model: 'gpt-4o-2024',
    choices: [content, ...more].map((text, index) => ({ index, message: { role: 'assistant', content: text }, finish_reason: 'stop' })),
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  })
const model = (id: number, given: Partial<SpanRow> = {}): SpanRow =>
  row(id, {
    kind: 'model',
    api: 'openai.chat',
    provider: 'openai',
    model: 'gpt-4o',
    requestBody: request('hi'),
    responseBody: answer('yes'),
    ...given,
  })
const agent = (id: number, given: Partial<SpanRow> = {}) => row(id, { kind: 'agent', agentName: `agent-${id}`, ...given })
const tool = (id: number, given: Partial<SpanRow> = {}) =>
  row(id, { kind: 'tool', toolName: 'look', arguments: '{"a":1}', result: '"found"', ...given })
const under = (id: number) => ({ parentSpanId: spanId(id) })

function said(name: string, given: Partial<FeedbackRow> = {}): FeedbackRow {
  return {
    project: 'shop',
    traceId: trace,
    stepId: '',
    name,
    value: 1,
    comment: '',
    source: 'user',
    at: '2026-01-31T12:00:00.000Z',
    ...given,
  }
}

describe('assembleEpisodes', () => {
  test('gives the whole episode of one agent, with nothing that was not said', () => {
    const rows = [
      agent(1, {
        session: 's',
        user: 'u',
        agentVersion: '2',
        tags: { plan: 'gold' },
        variants: { prompt: 'short' },
        input: '"hi"',
        output: '{"a":[1]}',
        endTimeUnixNano: 1_000_500_000n,
      }),
      model(2, { ...under(1), firstChunkMs: 2.5 }),
      tool(3, { ...under(2), callId: 'c1', effect: 'write', errorType: 'TypeError', errorMessage: 'no' }),
      row(4, { ...under(1), kind: 'io', toolName: 'profile', arguments: '"u"', result: 'null' }),
    ]
    expect(
      assembleEpisodes(rows, [said('thumbs', { stepId: spanId(2), comment: 'good' }), said('thumbs', { stepId: spanId(1), value: 0 })]),
    ).toEqual([
      {
        format: 1,
        id: trace,
        trace,
        project: 'shop',
        agent: { name: 'agent-1', version: '2' },
        session: 's',
        user: 'u',
        tags: { plan: 'gold', 'variant.prompt': 'short' },
        startedAt: '1970-01-01T00:00:00.001Z',
        durationMs: 999.5,
        input: 'hi',
        output: { a: [1] },
        steps: [
          {
            kind: 'model',
            id: spanId(2),
            parent: spanId(1),
            startedAt: '1970-01-01T00:00:00.002Z',
            durationMs: 1,
            api: 'openai.chat',
            provider: 'openai',
            model: 'gpt-4o',
            request: { messages: [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }], tools: [], parameters: {} },
            response: {
              model: 'gpt-4o-2024',
              id: 'r',
              outputs: [{ role: 'assistant', parts: [{ type: 'text', content: 'yes' }] }],
              finishReasons: ['stop'],
              usage: { inputTokens: 3, outputTokens: 1 },
            },
            firstChunkMs: 2.5,
          },
          {
            kind: 'tool',
            id: spanId(3),
            parent: spanId(2),
            startedAt: '1970-01-01T00:00:00.003Z',
            durationMs: 1,
            error: { type: 'TypeError', message: 'no' },
            name: 'look',
            callId: 'c1',
            arguments: { a: 1 },
            result: 'found',
            effect: 'write',
          },
          {
            kind: 'io',
            id: spanId(4),
            parent: spanId(1),
            startedAt: '1970-01-01T00:00:00.004Z',
            durationMs: 1,
            name: 'profile',
            key: 'u',
            result: null,
          },
        ],
        feedback: [
          { name: 'thumbs', value: 1, comment: 'good', source: 'user', at: '2026-01-31T12:00:00.000Z', stepId: spanId(2) },
          { name: 'thumbs', value: 0, source: 'user', at: '2026-01-31T12:00:00.000Z' },
        ],
        source: { kind: 'trace' },
      },
    ])
  })

  test('does not depend on the order in which rows and feedback come', () => {
    const rows = [
      agent(1),
      row(2, { kind: 'other', ...under(1) }),
      model(3, { ...under(2), startTimeUnixNano: 5_000_000n }),
      tool(4, { ...under(3), startTimeUnixNano: 5_000_000n }),
      agent(5, { ...under(1), startTimeUnixNano: 5_000_000n }),
      model(6, { ...under(5), attempt: 1, errorType: '429', responseBody: '' }),
      model(7, { ...under(5), attempt: 2 }),
      agent(8),
      model(9, under(8)),
      tool(10),
    ]
    const feedback = [said('a'), said('b', { stepId: spanId(9) }), said('c', { stepId: spanId(6) }), said('d', { stepId: spanId(10) })]
    const expected = assembleEpisodes(rows, feedback)
    expect(expected.map(({ steps }) => steps.map(({ id }) => Number.parseInt(id, 16)))).toEqual([[5, 3, 4, 7], [9], [10]])
    fc.assert(
      fc.property(
        fc.shuffledSubarray(rows, { minLength: rows.length }),
        fc.shuffledSubarray(feedback, { minLength: feedback.length }),
        (shuffled, said) => {
          expect(assembleEpisodes(shuffled, said)).toEqual(expected)
        },
      ),
    )
  })

  test('makes one episode of each agent with no agent above it, with ids of their own, and one of the steps under no agent', () => {
    const episodes = assembleEpisodes(
      [row(1, { kind: 'other' }), agent(2, under(1)), model(3, under(2)), agent(4, under(1)), model(5, under(1))],
      [said('late', { stepId: 'ffffffffffffffff' })],
    )
    expect(episodes.map(({ agent, steps, feedback }) => [agent?.name, steps.map(({ id }) => id), feedback.length])).toEqual([
      ['agent-2', [spanId(3)], 1],
      ['agent-4', [], 0],
      [undefined, [spanId(5)], 0],
    ])
    const ids = new Set(episodes.map(({ id }) => id))
    expect(ids.size).toBe(3)
    for (const id of [...ids]) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(ids).not.toContain(trace)
    // A further step of the third changes no id.
    const grown = assembleEpisodes(
      [row(1, { kind: 'other' }), agent(2, under(1)), model(3, under(2)), agent(4, under(1)), model(5, under(1)), tool(6, under(1))],
      [],
    )
    expect(new Set(grown.map(({ id }) => id))).toEqual(ids)
  })

  test('of steps without any agent takes the trace id, and no episode comes of other spans alone', () => {
    expect(
      assembleEpisodes([model(2), tool(3)], []).map(({ id, agent, startedAt, durationMs }) => ({ id, agent, startedAt, durationMs })),
    ).toEqual([{ id: trace, agent: undefined, startedAt: '1970-01-01T00:00:00.002Z', durationMs: 2 }])
    expect(assembleEpisodes([row(1, { kind: 'other' })], [said('x')])).toEqual([])
  })

  test('folds the attempts of one call, also of two equal calls side by side, and keeps the last answer', () => {
    const failed = { errorType: '429', errorMessage: 'slow down', responseBody: JSON.stringify({ error: { message: 'slow down' } }) }
    const rows = [
      agent(1),
      model(2, { ...under(1), attempt: 1, ...failed }),
      model(3, { ...under(1), attempt: 1, ...failed }),
      model(4, { ...under(1), attempt: 2 }),
      model(5, { ...under(1), attempt: 2, responseBody: answer('no') }),
      model(6, { ...under(1), attempt: 2, requestBody: request('other') }),
    ]
    const [episode] = assembleEpisodes(rows, [said('x', { stepId: spanId(2) })])
    const calls = episode?.steps.map((step) =>
      step.kind === 'model' ? [step.id, step.attempts, step.startedAt, step.durationMs, step.error] : [],
    )
    expect(calls).toEqual([
      [spanId(4), 2, '1970-01-01T00:00:00.002Z', 3, undefined],
      [spanId(5), 2, '1970-01-01T00:00:00.003Z', 3, undefined],
      [spanId(6), 2, '1970-01-01T00:00:00.006Z', 1, undefined],
    ])
    expect(episode?.feedback).toMatchObject([{ stepId: spanId(4) }])
  })

  test('leaves a call that was answered by an error without a response', () => {
    const [episode] = assembleEpisodes(
      [
        model(2, { errorType: '429', errorMessage: 'slow', responseBody: '{"error":{"message":"slow"}}' }),
        model(3, { errorType: '502', responseBody: '"<html>"' }),
      ],
      [],
    )
    expect(episode?.steps).toMatchObject([{ error: { type: '429', message: 'slow' } }, { error: { type: '502' } }])
    for (const step of episode?.steps ?? []) expect(step).not.toHaveProperty('response')
  })

  test('tells which of several outputs the run went on with', () => {
    const next = JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'B' },
        { role: 'user', content: 'go' },
      ],
    })
    const [episode] = assembleEpisodes([model(2, { responseBody: answer('A', 'B') }), model(3, { requestBody: next })], [])
    expect(episode?.steps.map((step) => step.kind === 'model' && step.chosen)).toEqual([1, undefined])
  })

  test("drops another instrumentation's span of a call that we recorded", () => {
    const rows = [
      agent(1),
      model(2, { ...under(1), responseId: 'resp_1' }),
      model(3, { ...under(1), api: 'semconv', responseId: 'resp_1', requestBody: '', responseBody: '' }),
      model(4, { ...under(1), api: 'semconv', responseId: 'resp_2', requestBody: '', responseBody: '' }),
    ]
    expect(assembleEpisodes(rows, [])[0]?.steps.map(({ id }) => id)).toEqual([spanId(2), spanId(4)])
  })

  test('takes the later of two rows of one span and of two feedbacks on one thing', () => {
    const episodes = assembleEpisodes(
      [agent(1, { session: 'old' }), agent(1, { session: 'new' })],
      [said('thumbs', { value: 1 }), said('thumbs', { value: false })],
    )
    expect(episodes.map(({ session, feedback }) => [session, feedback.map(({ value }) => value)])).toEqual([['new', [false]]])
  })

  test('survives parents that go in a circle, missing parents, and bodies that are no JSON', () => {
    const rows = [
      model(2, under(3)),
      tool(3, { ...under(2), arguments: '{oops', result: 'plain \ud800 text' }),
      model(4, { ...under(99), requestBody: 'x', responseBody: '<html>' }),
    ]
    const [episode] = assembleEpisodes(rows, [])
    expect(episode?.steps).toMatchObject([
      { id: spanId(2), parent: spanId(3) },
      { id: spanId(3), arguments: '{oops', result: 'plain \ufffd text' },
      { id: spanId(4), request: { messages: [], tools: [], parameters: {} } },
    ])
  })

  test('puts U+FFFD where a body holds half a character, and keeps NUL', () => {
    const [episode] = assembleEpisodes([model(2, { requestBody: '{"messages":[{"role":"user","content":"a\\ud83d\\u0000b"}]}' })], [])
    expect(episode?.steps[0]).toMatchObject({ request: { messages: [{ role: 'user', parts: [{ type: 'text', content: 'a\ufffd\0b' }] }] } })
  })

  test('keeps what is known of a call whose content was not captured', () => {
    const [episode] = assembleEpisodes(
      [model(2, { requestBody: '', responseBody: '', responseId: 'r', finishReasons: ['stop'], inputTokens: 0, outputTokens: 5 })],
      [],
    )
    expect(episode?.steps[0]).toMatchObject({
      response: { id: 'r', outputs: [], finishReasons: ['stop'], usage: { inputTokens: 0, outputTokens: 5 } },
    })
  })

  test('takes ten thousand spans in a chain in less than five seconds', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => tool(index + 2, index === 0 ? {} : under(index + 1)))
    const started = performance.now()
    expect(assembleEpisodes([agent(1), ...rows.reverse()], []).map(({ steps }) => steps.length)).toEqual([0, 10_000])
    expect(performance.now() - started).toBeLessThan(5000)
  })
})
