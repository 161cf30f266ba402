// A trace, a message or a reply may hold any number of things: a call takes some hundred thousand arguments at most, and a climb for each span of a long chain never ends.
import { assembleEpisodes, type SpanRow } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { numberedRow as row, spanId } from '../../support/span-rows.ts'

const many = 200_000
const times = <T>(one: T): T[] => Array<T>(many).fill(one)
const text = (type: string) => times({ type, text: 'a' })
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }

const calls: Record<string, Pick<SpanRow, 'api' | 'requestBody' | 'responseBody'>> = {
  'openai.chat': {
    api: 'openai.chat',
    requestBody: JSON.stringify({ messages: [{ role: 'user', content: text('text') }] }),
    responseBody: JSON.stringify({
      choices: [{ index: 0, message: { role: 'assistant', content: text('text'), tool_calls: times(call) } }],
    }),
  },
  'openai.chat, streamed': {
    api: 'openai.chat',
    requestBody: JSON.stringify({ messages: times({ role: 'user', content: 'a' }) }),
    responseBody: ['a', 'b']
      .map(() => event({ choices: [{ index: 0, delta: { content: '', annotations: times({ type: 'x' }) } }] }))
      .join(''),
  },
  'openai.responses': {
    api: 'openai.responses',
    requestBody: JSON.stringify({
      input: [
        { role: 'user', content: text('input_text') },
        { role: 'assistant', content: text('output_text') },
      ],
    }),
    responseBody: JSON.stringify({ output: [{ type: 'message', role: 'assistant', content: text('output_text') }] }),
  },
  'anthropic.messages': {
    api: 'anthropic.messages',
    requestBody: JSON.stringify({ system: text('text'), messages: [{ role: 'user', content: text('text') }] }),
    responseBody: JSON.stringify({ role: 'assistant', content: text('text') }),
  },
}

describe('episodes are assembled', () => {
  test.each(Object.entries(calls))('of a call of any size: %s', (_name, given) => {
    const [episode] = assembleEpisodes([row(1, { kind: 'model', ...given })], [])
    const [step] = episode?.steps ?? []
    const request = step?.kind === 'model' ? step.request.messages : []
    expect(Math.max(request.length, request.at(-1)?.parts.length ?? 0)).toBe(many)
  })

  test('of a trace of any number of agents', () => {
    const rows = Array.from({ length: many }, (_, n) => row(n + 1, { kind: 'agent' }))
    expect(assembleEpisodes(rows, [])).toHaveLength(many)
  })

  test('of a chain of any length, from below as from above', () => {
    const length = 50_000
    const chain = Array.from({ length }, (_, n) =>
      row(n + 1, { kind: n % (length - 1) === 0 ? 'agent' : 'other', ...(n === 0 ? {} : { parentSpanId: spanId(n) }) }),
    )
    const tools = Array.from({ length }, (_, n) => row(length + n + 1, { kind: 'tool', parentSpanId: spanId(n + 1) }))
    const [episode] = assembleEpisodes([...chain, ...tools].reverse(), [])
    expect(new Set(episode?.steps.map(({ parent }) => parent))).toEqual(new Set([spanId(1), spanId(length)]))
  })
})
