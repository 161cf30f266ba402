import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'

const paths = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  unknown: '/v1/moderations',
}

/** What is recorded of an answer with status 200. */
async function recorded(path: keyof typeof paths, type: string, body: string, read = (response: Response) => response.text()) {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const client = hg.wrap({
    fetch: async (_url: string, _init: RequestInit) => new Response(body, { headers: { 'content-type': type } }),
  })
  const response = await client.fetch(`http://model.test${paths[path]}`, { method: 'POST', body: '{"model":"m"}' })
  expect(await read(response)).toBe(await read(new Response(body)))
  await hg.shutdown()
  const attributes = exporter.spans[0]?.attributes ?? {}
  const answer: unknown = attributes['homeground.response.body']
  return {
    partial: attributes['homeground.partial'] ?? false,
    error: attributes['error.type'],
    message: attributes['homeground.error.message'],
    body: typeof answer === 'string' ? answer : undefined,
  }
}

const events = (...data: string[]) => data.map((each) => `data: ${each}\n\n`).join('')
const piece = (text: string, more: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'text_completion',
    model: 'm',
    choices: [{ index: 0, text, logprobs: null, finish_reason: null, ...more }],
  })
const delta = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] })
const stop = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })

describe('an answer that says 200', () => {
  it('with a byte order mark before its first event is recorded whole', async () => {
    const { partial, body } = await recorded('chat', 'text/event-stream', `\ufeff${events(delta('one '), delta('two'), stop, '[DONE]')}`)
    expect({ partial, content: JSON.parse(body ?? '').choices[0].message.content }).toEqual({ partial: false, content: 'one two' })
  })

  it.each(['text/plain', 'application/json', ''])('and sends events as %s is put together as a stream', async (type) => {
    const { partial, body } = await recorded('chat', type, events(delta('one '), delta('two'), stop, '[DONE]'))
    expect({ partial, content: JSON.parse(body ?? '').choices[0].message.content }).toEqual({ partial: false, content: 'one two' })
  })

  it.each([': OPENROUTER PROCESSING\n\n', '\n\n', 'id: 1\n', 'retry: 500\n\n'])(
    'and begins with %j before its events, as plain text, is put together as a stream',
    async (first) => {
      const { partial, body } = await recorded('chat', 'text/plain', first + events(delta('one '), delta('two'), stop, '[DONE]'))
      expect({ partial, content: JSON.parse(body ?? '').choices[0].message.content }).toEqual({ partial: false, content: 'one two' })
    },
  )

  it('and sends JSON as an event stream is recorded as it came', async () => {
    const body = '{"id":"a","choices":[]}'
    expect(await recorded('chat', 'text/event-stream', body)).toMatchObject({ partial: false, body })
    expect(await recorded('chat', 'text/event-stream', '<html>please log in</html>')).toMatchObject({
      partial: true,
      body: '<html>please log in</html>',
    })
  })

  it.each(['queued', 'in_progress'])('and is %s, to be asked for later, is partial', async (status) => {
    const body = JSON.stringify({ id: 'r', object: 'response', status, output: [], error: null })
    expect(await recorded('responses', 'application/json', body)).toMatchObject({ partial: true, error: undefined, body })
  })

  it('and nothing else is partial', async () => {
    expect(await recorded('chat', 'application/json', '')).toMatchObject({ partial: true, error: undefined, body: undefined })
  })

  it.each(['Application/JSON', 'APPLICATION/JSON; CHARSET=UTF-8'])('as %s is recorded', async (type) => {
    const body = '{"id":"a","choices":[]}'
    const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer()).toString()
    expect(await recorded('chat', type, body, bytes)).toMatchObject({ partial: false, body })
  })

  it('with a byte order mark before its JSON is recorded whole, without it', async () => {
    const body = '{"id":"a","choices":[]}'
    const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer()).toString()
    expect(await recorded('chat', 'application/json', `\ufeff${body}`, bytes)).toMatchObject({ partial: false, body })
  })

  it.each<[string, keyof typeof paths, string]>([
    ['a chat', 'chat', events(delta('one '), '{"choices":[{"index":0,"del', delta('two'), stop, '[DONE]')],
    [
      'a message',
      'messages',
      events(
        '{"type":"message_start","message":{"id":"a","content":[]}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_del',
        '{"type":"message_stop"}',
      ),
    ],
  ])('of whose events one cannot be read is partial, although it came to its end: %s', async (_, path, body) => {
    expect(await recorded(path, 'text/event-stream', body)).toMatchObject({ partial: true, error: undefined })
  })

  it('of whose events one is empty is whole', async () => {
    expect(await recorded('chat', 'text/event-stream', events(delta('one'), '', stop, '[DONE]'))).toMatchObject({ partial: false })
  })

  it.each<[string, keyof typeof paths, string, { error: string; message: string }]>([
    ['an object', 'chat', '{"error":{"code":429,"message":"slow down"}}', { error: '429', message: 'slow down' }],
    ['a text', 'chat', '{"error":"model not found"}', { error: 'error', message: 'model not found' }],
    [
      'of Anthropic’s form',
      'messages',
      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      { error: 'overloaded_error', message: 'Overloaded' },
    ],
    [
      'of a response that failed',
      'responses',
      '{"id":"r","status":"failed","output":[],"error":{"code":"server_error","message":"no luck"}}',
      { error: 'server_error', message: 'no luck' },
    ],
  ])('and holds an error, %s, is recorded with it', async (_, path, body, told) => {
    expect(await recorded(path, 'application/json', body)).toMatchObject({ ...told, partial: false, body })
  })

  it('and says that there was no error has none', async () => {
    const body = '{"id":"r","status":"completed","output":[],"error":null}'
    expect(await recorded('responses', 'application/json', body)).toMatchObject({ error: undefined, partial: false })
  })

  it.each([
    ['is cut off', '{"choices":[{"mess', 'application/json'],
    ['is a proxy’s page', '<html>please log in</html>', 'text/html'],
  ])('and %s is partial', async (_, body, type) => {
    expect(await recorded('chat', type, body)).toMatchObject({ partial: true, error: undefined, body })
  })

  it('of an endpoint that is not known may be anything', async () => {
    expect(await recorded('unknown', 'text/plain', 'fine')).toMatchObject({ partial: false, body: 'fine' })
  })
})

describe('a stream of text completions', () => {
  const last = JSON.stringify({
    id: 'c',
    object: 'text_completion',
    model: 'm',
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  })

  it('is recorded as the unstreamed answer', async () => {
    const logprobs = (token: string) => ({ tokens: [token], token_logprobs: [-1] })
    const sent = events(
      piece('ann', { logprobs: logprobs('ann') }),
      piece('@example.com', { logprobs: logprobs('@example.com'), finish_reason: 'stop' }),
      last,
      '[DONE]',
    )
    const { partial, error, body } = await recorded('completions', 'text/event-stream', sent)
    expect({ partial, error, body: JSON.parse(body ?? '') }).toEqual({
      partial: false,
      error: undefined,
      body: {
        id: 'c',
        object: 'text_completion',
        model: 'm',
        choices: [
          {
            index: 0,
            text: 'ann@example.com',
            logprobs: { tokens: ['ann', '@example.com'], token_logprobs: [-1, -1] },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      },
    })
  })

  it.each<[string, string, object]>([
    ['that breaks off is partial', events(piece('one')), { partial: true, error: undefined }],
    ['of which an event cannot be read is partial', events(piece('one'), '{"choi', '[DONE]'), { partial: true, error: undefined }],
    [
      'that tells an error is recorded with it',
      events(piece('one'), '{"error":{"code":500,"message":"no"}}'),
      { error: '500', message: 'no' },
    ],
    ['that has a finish reason for each choice is whole', events(piece('one', { finish_reason: 'length' })), { partial: false }],
  ])('%s', async (_, sent, expected) => {
    expect(await recorded('completions', 'text/event-stream', sent)).toMatchObject(expected)
  })
})
