import { homeground } from '@homeground/sdk'
import { MemoryExporter, type ModelAnswer, startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'

const messages = [{ role: 'user' as const, content: 'Where is order 7?' }]

async function setUp(answers: readonly ModelAnswer[]) {
  const server = await startModelServer({ script: answers })
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const client = new OpenAI({ baseURL: server.url, apiKey: 'sk-secret', maxRetries: 0 })
  const close = async () => {
    await hg.shutdown()
    await server.close()
  }
  return { server, exporter, hg, client, close, [Symbol.asyncDispose]: close }
}

describe('wrap', () => {
  it('returns the same client, and wraps once', async () => {
    await using t = await setUp([])
    expect(t.hg.wrap(t.client)).toBe(t.client)
    const fetch: unknown = Reflect.get(t.client, 'fetch')
    t.hg.wrap(t.client)
    expect(Reflect.get(t.client, 'fetch')).toBe(fetch)
  })

  it('records for the next one what somebody has wrapped who has shut down', async () => {
    await using t = await setUp(['one', 'two'])
    await t.hg.wrap(t.client).chat.completions.create({ model: 'm', messages })
    await t.hg.shutdown()
    const exporter = new MemoryExporter()
    const next = homeground({ project: 'next', exporter })
    await next.wrap(t.client).chat.completions.create({ model: 'm', messages })
    await next.shutdown()
    expect([t.exporter.spans.length, exporter.spans.length]).toEqual([1, 1])
  })

  it('tells the process of a client that another one records already, and of what is no client', async () => {
    await using t = await setUp(['ok'])
    t.hg.wrap(t.client)
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    const exporter = new MemoryExporter()
    const other = homeground({ project: 'other', exporter })
    expect(other.wrap(t.client)).toBe(t.client)
    for (const none of [null, undefined, 'client']) expect(Reflect.apply(other.wrap, undefined, [none])).toBe(none)
    await t.client.chat.completions.create({ model: 'm', messages })
    await Promise.all([t.hg.flush(), other.shutdown()])
    expect([t.exporter.spans.length, exporter.spans.length]).toEqual([1, 0])
    expect(told).toEqual([
      expect.stringContaining('a client that another homeground() records'),
      expect.stringContaining('wrap() was given null, no client'),
      expect.stringContaining('wrap() was given undefined, no client'),
      expect.stringContaining('wrap() was given string, no client'),
    ])
  })

  it.each([
    ['frozen', (client: OpenAI) => Object.freeze(client)],
    ['behind a proxy that may not be written', (client: OpenAI) => new Proxy(client, { set: () => false })],
  ])('of a client that is %s gives it back as it is, and tells the process', async (_, closed) => {
    await using t = await setUp(['ok'])
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    const client = closed(t.client)
    expect(t.hg.wrap(client)).toBe(client)
    expect((await client.chat.completions.create({ model: 'm', messages })).choices[0]?.message.content).toBe('ok')
    await new Promise(setImmediate)
    expect(told).toEqual([expect.stringContaining('its calls are not recorded')])
  })

  it('tells of each client without a fetch by its class, and what to give it; so given, every POST is recorded', async () => {
    await using t = await setUp(['ok'])
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    class Gemini {}
    class Cohere {}
    for (const client of [new Gemini(), new Cohere(), {}, Object.create(null)]) t.hg.wrap(client)
    const [given, known] = [t.hg.wrap({ fetch }).fetch, t.hg.fetch]
    const url = `${t.server.origin}/models/m:generateContent`
    for (const each of [given, known]) await (await each(url, { method: 'POST', body: '{"contents":[]}' })).text()
    await t.hg.flush()
    expect(told.map((each) => /found no `fetch` that it may replace on (the client.*) \(is it/.exec(each)?.[1])).toEqual([
      'the client Gemini',
      'the client Cohere',
      'the client',
    ])
    expect(told[0]).toContain('give it hg.wrap({ fetch }).fetch; else see docs/sdk/what-fetch-cannot-see.md')
    expect(t.exporter.spans.map(({ attributes }) => attributes['homeground.request.body'])).toEqual(['{"contents":[]}'])
    expect(t.hg.stats().internalErrors).toBe(0)
  })

  it('records a plain call: bodies as they were, and the conventions attributes', async () => {
    await using t = await setUp(['It is on its way.'])
    const answer = await t.hg.wrap(t.client).chat.completions.create({ model: 'gpt-4o', messages, temperature: 0.5 })
    await t.hg.flush()
    const [span] = t.exporter.spans
    expect(span).toMatchObject({
      name: 'chat gpt-4o',
      kind: 3,
      status: { code: 0 },
      resource: { 'homeground.project': 'test', 'service.name': 'test' },
    })
    const { 'homeground.response.body': responseBody, 'homeground.request.body': requestBody, ...attributes } = span?.attributes ?? {}
    expect(requestBody).toBe(t.server.requests[0]?.text)
    expect(JSON.parse(String(responseBody))).toEqual(answer)
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
      'homeground.api': 'openai.chat',
      'homeground.attempt': 1,
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(t.server.url).port),
    })
    expect(t.exporter.spans).toHaveLength(1)
    expect(JSON.stringify(t.exporter.spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('sk-secret')
  })

  it('records a stream as the body of the unstreamed call', async () => {
    const answer = { content: 'On it.', toolCalls: [{ id: 'c1', name: 'find', arguments: { order: 7 } }] }
    await using t = await setUp([answer, answer])
    const plain = await t.client.chat.completions.create({ model: 'm', messages })
    const chunks: string[] = []
    for await (const chunk of await t.hg
      .wrap(t.client)
      .chat.completions.create({ model: 'm', messages, stream: true, stream_options: { include_usage: true } })) {
      chunks.push(chunk.choices[0]?.delta.content ?? '')
    }
    await t.hg.flush()
    const span = t.exporter.spans[0]
    expect(chunks.join('')).toBe('On it.')
    expect(JSON.parse(String(span?.attributes['homeground.response.body']))).toEqual({ ...plain, id: 'chatcmpl-2' })
    expect(span?.attributes['homeground.first_chunk_ms']).toBeGreaterThan(0)
    expect(span?.attributes['homeground.partial']).toBeUndefined()
    expect(t.exporter.spans).toHaveLength(1)
  })

  it('numbers the attempts of a retried call, each a span, and the caller sees one answer', async () => {
    await using t = await setUp([{ status: 500, body: { error: { message: 'oops' } }, headers: { 'retry-after-ms': '1' } }, 'Here.'])
    const client = t.hg.wrap(new OpenAI({ baseURL: t.server.url, apiKey: 'k', maxRetries: 1 }))
    const answer = await client.chat.completions.create({ model: 'm', messages })
    await t.hg.flush()
    expect(answer.choices[0]?.message.content).toBe('Here.')
    expect(
      t.exporter.spans.map((span) => [span.attributes['homeground.attempt'], span.attributes['error.type'], span.status.code]),
    ).toEqual([
      [1, '500', 2],
      [2, undefined, 0],
    ])
  })

  it('rejects as the client does, and records the error with its body', async () => {
    await using t = await setUp([{ status: 429, body: { error: { message: 'slow down', code: 'rate_limit_exceeded' } } }])
    await expect(t.hg.wrap(t.client).chat.completions.create({ model: 'm', messages })).rejects.toThrow(OpenAI.RateLimitError)
    await t.hg.flush()
    expect(t.exporter.spans[0]?.attributes).toMatchObject({
      'error.type': '429',
      'homeground.error.message': 'slow down',
      'homeground.response.body': '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}',
    })
  })

  it('records a stream that the caller leaves as partial, with what it read', async () => {
    await using t = await setUp(['one two three four five'])
    for await (const chunk of await t.hg.wrap(t.client).chat.completions.create({ model: 'm', messages, stream: true })) {
      if (chunk.choices[0]?.delta.content === ' two') break
    }
    await t.hg.flush()
    const attributes = t.exporter.spans[0]?.attributes ?? {}
    expect(attributes['homeground.partial']).toBe(true)
    expect(attributes['error.type']).toBeUndefined()
    expect(JSON.parse(String(attributes['homeground.response.body'])).choices[0].message.content).toMatch(/^one two/)
    expect(t.hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
  })

  it.each([
    [
      'withResponse',
      async (client: OpenAI) =>
        (await client.chat.completions.create({ model: 'm', messages }).withResponse()).data.choices[0]?.message.content,
    ],
    [
      'asResponse',
      async (client: OpenAI) =>
        JSON.parse(await (await client.chat.completions.create({ model: 'm', messages }).asResponse()).text()).choices[0].message.content,
    ],
    ['parse', async (client: OpenAI) => (await client.chat.completions.parse({ model: 'm', messages })).choices[0]?.message.content],
    ['stream helper', async (client: OpenAI) => await client.chat.completions.stream({ model: 'm', messages }).finalContent()],
    [
      'tee',
      async (client: OpenAI) => {
        const [left, right] = (await client.chat.completions.create({ model: 'm', messages, stream: true })).tee()
        const read = async (half: typeof left) => {
          let text = ''
          for await (const chunk of half) text += chunk.choices[0]?.delta.content ?? ''
          return text
        }
        const [a, b] = await Promise.all([read(left), read(right)])
        return a === b ? a : 'the halves differ'
      },
    ],
    [
      'toReadableStream',
      async (client: OpenAI) => {
        const body = await new Response(
          (await client.chat.completions.create({ model: 'm', messages, stream: true })).toReadableStream(),
        ).text()
        return body
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).choices[0]?.delta.content ?? '')
          .join('')
      },
    ],
    [
      'clone',
      async (client: OpenAI) => {
        const response = await client.chat.completions.create({ model: 'm', messages }).asResponse()
        const copy = response.clone()
        const [one, two] = await Promise.all([response.text(), copy.text()])
        return one === two ? JSON.parse(one).choices[0].message.content : 'the clone differs'
      },
    ],
    [
      'pipeThrough',
      async (client: OpenAI) => {
        const response = await client.chat.completions.create({ model: 'm', messages }).asResponse()
        let text = ''
        for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part
        return JSON.parse(text).choices[0].message.content
      },
    ],
  ])('%s works as on an unwrapped client, and one whole call is recorded', async (_, use) => {
    await using t = await setUp(['Answer of several words.', 'Answer of several words.'])
    expect(await use(t.client)).toBe('Answer of several words.')
    expect(await use(t.hg.wrap(t.client))).toBe('Answer of several words.')
    await t.hg.flush()
    expect(
      t.exporter.spans.map((span) => [
        JSON.parse(String(span.attributes['homeground.response.body'])).choices[0].message.content,
        span.attributes['homeground.partial'],
      ]),
    ).toEqual([['Answer of several words.', undefined]])
  })

  it('records embeddings and passes through what it does not know', async () => {
    await using t = await setUp([])
    const client = t.hg.wrap(t.client)
    expect((await client.models.list()).data[0]?.id).toBe('test-model')
    expect((await client.embeddings.create({ model: 'e', input: 'x' })).data[0]?.embedding).toHaveLength(8)
    await expect(client.moderations.create({ input: 'x' })).rejects.toThrow(OpenAI.NotFoundError)
    await t.hg.flush()
    expect(t.exporter.spans.map((span) => [span.name, span.status.code])).toEqual([
      ['embeddings e', 0],
      ['v1/moderations', 2],
    ])
  })
})

describe('switched off', () => {
  it('is the original functions: client, fetch, tool and agent untouched', async () => {
    const hg = homeground({ project: 'test', enabled: false })
    const client = new OpenAI({ apiKey: 'k' })
    const before: unknown = Reflect.get(client, 'fetch')
    const execute = async () => 1
    const agent = async () => 2
    expect(hg.wrap(client)).toBe(client)
    expect(Reflect.get(client, 'fetch')).toBe(before)
    expect(hg.fetch).toBe(globalThis.fetch)
    expect(hg.tool({ name: 't', parameters: { type: 'object' }, execute }).execute).toBe(execute)
    expect(hg.agent('a', agent)).toBe(agent)
  })
})
