import Anthropic from '@anthropic-ai/sdk'
import { type ModelAnswer, startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'

const messages = [{ role: 'user' as const, content: 'Where is my order?' }]
const connect = (url: string) => new OpenAI({ baseURL: url, apiKey: 'test', maxRetries: 0 })

describe('startModelServer', () => {
  it('answers the openai package from a script, in order, and keeps the requests', async () => {
    await using server = await startModelServer({ script: ['First.', { toolCalls: [{ name: 'find', arguments: { id: 7 } }] }] })
    const client = connect(server.url)
    const first = await client.chat.completions.create({ model: 'm', messages })
    const second = await client.chat.completions.create({ model: 'm', messages })
    expect(first.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'First.', refusal: null }, logprobs: null, finish_reason: 'stop' },
    ])
    expect(first.usage).toEqual({ prompt_tokens: 12, completion_tokens: 2, total_tokens: 14 })
    expect(second.choices[0]?.message.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"id":7}' } },
    ])
    expect(second.choices[0]?.finish_reason).toBe('tool_calls')
    expect(server.requests.map(({ path, body }) => ({ path, body }))).toEqual([
      { path: '/v1/chat/completions', body: { model: 'm', messages } },
      { path: '/v1/chat/completions', body: { model: 'm', messages } },
    ])
  })

  it('says so when the script is at its end', async () => {
    await using server = await startModelServer({ script: [] })
    await expect(connect(server.url).chat.completions.create({ model: 'm', messages })).rejects.toThrow(
      /has 0 answers and this is request 1/,
    )
  })

  it('is asked once where the test is at fault: what a client would try again made tests slow, and counted a request too many', async () => {
    const broken = () => {
      throw new Error('a mistake in the test')
    }
    for (const [options, said] of [
      [{ script: [] }, 'this is request 1'],
      [{ policy: broken }, 'a mistake in the test'],
    ] as const) {
      await using server = await startModelServer(options)
      const patient = { apiKey: 'test', maxRetries: 2 }
      await expect(new OpenAI({ ...patient, baseURL: server.url }).chat.completions.create({ model: 'm', messages })).rejects.toThrow(said)
      await expect(
        new Anthropic({ ...patient, baseURL: server.origin }).messages.create({ model: 'm', max_tokens: 9, messages }),
      ).rejects.toThrow(said.replace('1', '2'))
      expect(server.requests).toHaveLength(2)
    }
  })

  it('streams the same answer in chunks, which the client puts together to the unstreamed message', async () => {
    const answer = {
      content: 'On  it, now. ',
      toolCalls: [
        { id: 'a', name: 'find', arguments: { id: 7, text: 'x y' } },
        { name: 'list', arguments: {} },
      ],
    }
    await using server = await startModelServer({ policy: () => answer })
    const client = connect(server.url)
    const plain = await client.chat.completions.create({ model: 'm', messages })
    const stream = client.chat.completions.stream({ model: 'm', messages, stream_options: { include_usage: true } })
    let chunks = 0
    for await (const _ of stream) chunks += 1
    const streamed = await stream.finalChatCompletion()
    expect(chunks).toBeGreaterThan(8)
    expect(streamed.choices[0]?.message.content).toBe('On  it, now. ')
    expect(streamed.choices[0]?.message.tool_calls?.map(({ function: f }) => ({ name: f.name, arguments: f.arguments }))).toEqual(
      plain.choices[0]?.message.tool_calls?.map((call) =>
        call.type === 'function' ? { name: call.function.name, arguments: call.function.arguments } : call,
      ),
    )
    expect(streamed.usage).toEqual(plain.usage)
  })

  it('asks the policy with the request, and gives HTTP errors as told', async () => {
    await using server = await startModelServer({
      policy: ({ body }) =>
        body['model'] === 'busy'
          ? { status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '1' } }
          : `hello ${body['model']}`,
    })
    const client = connect(server.url)
    expect((await client.chat.completions.create({ model: 'm', messages })).choices[0]?.message.content).toBe('hello m')
    await expect(client.chat.completions.create({ model: 'busy', messages })).rejects.toMatchObject({
      status: 429,
      message: '429 slow down',
    })
  })

  it('frees its port on close, also with a stream under way', async () => {
    const server = await startModelServer({ policy: () => 'word '.repeat(500), chunkDelayMs: 5 })
    const stream = await connect(server.url).chat.completions.create({ model: 'm', messages, stream: true })
    const reading = (async () => {
      for await (const _ of stream);
    })()
    const broken = expect(reading).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 20))
    await server.close()
    await broken
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  })
})

const tools = { content: 'Let me look.', toolCalls: [{ name: 'find', arguments: { id: 7 } }] }

describe('in the Responses API', () => {
  it('gives the openai package the same answer plain, streamed and through its helper', async () => {
    await using server = await startModelServer({ policy: () => tools })
    const client = connect(server.url)
    const request = { model: 'm', instructions: 'Be brief.', input: 'Where is order 7?' }
    const plain = await client.responses.create(request)
    expect([plain.id, plain.status, plain.output_text]).toEqual(['resp_1', 'completed', 'Let me look.'])
    expect(plain.output.map((item) => (item.type === 'function_call' ? [item.call_id, item.name, item.arguments] : item.type))).toEqual([
      'message',
      ['call_1', 'find', '{"id":7}'],
    ])
    const streamed: string[] = []
    for await (const event of await client.responses.create({ ...request, stream: true }))
      if (event.type === 'response.output_text.delta') streamed.push(event.delta)
    expect(streamed.join('')).toBe('Let me look.')
    expect((await client.responses.stream(request).finalResponse()).output_text).toBe('Let me look.')
    expect(server.requests[0]).toMatchObject({
      api: 'openai.responses',
      messages: [
        { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
        { role: 'user', parts: [{ type: 'text', content: 'Where is order 7?' }] },
      ],
    })
  })
})

describe('in Anthropic’s Messages API', () => {
  it('gives @anthropic-ai/sdk the same answer plain, streamed and through its helper', async () => {
    await using server = await startModelServer({ policy: () => ({ ...tools, reasoning: 'Order 7, then.' }) })
    const client = new Anthropic({ baseURL: server.origin, apiKey: 'test', maxRetries: 0 })
    const request = { model: 'm', max_tokens: 100, messages }
    const plain = await client.messages.create(request)
    const blocks = (content: Anthropic.ContentBlock[]) =>
      content.map((block) =>
        block.type === 'text'
          ? block.text
          : block.type === 'thinking'
            ? block.thinking
            : block.type === 'tool_use'
              ? block.input
              : block.type,
      )
    expect([plain.stop_reason, blocks(plain.content)]).toEqual(['tool_use', ['Order 7, then.', 'Let me look.', { id: 7 }]])
    expect(plain.usage.input_tokens).toBeGreaterThan(0)
    const helped = await client.messages.stream(request).finalMessage()
    expect([helped.stop_reason, blocks(helped.content)]).toEqual(['tool_use', ['Order 7, then.', 'Let me look.', { id: 7 }]])
  })

  it('makes errors that its classes are made from', async () => {
    await using server = await startModelServer({
      script: [
        { error: 429, retryAfterSeconds: 1 },
        { error: 529, message: 'busy' },
      ],
    })
    const client = new Anthropic({ baseURL: server.origin, apiKey: 'test', maxRetries: 0 })
    const ask = () => client.messages.create({ model: 'm', max_tokens: 1, messages })
    await expect(ask()).rejects.toThrow(Anthropic.RateLimitError)
    await expect(ask()).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error', message: 'busy' } } })
  })
})

describe('faults', () => {
  const clients = [
    [
      'openai.chat',
      async (url: string, stream: boolean) => await read(connect(url).chat.completions.create({ model: 'm', messages, stream })),
    ],
    [
      'openai.responses',
      async (url: string, stream: boolean) => await read(connect(url).responses.create({ model: 'm', input: 'hi', stream })),
    ],
    [
      'anthropic.messages',
      async (url: string, stream: boolean) =>
        await read(
          new Anthropic({ baseURL: url.slice(0, -3), apiKey: 'test', maxRetries: 0 }).messages.create({
            model: 'm',
            max_tokens: 9,
            messages,
            stream,
          }),
        ),
    ],
  ] as const
  const long = 'word '.repeat(40)

  it.each(clients)('%s: a cut connection and a spoilt chunk are errors of the client, plain and streamed', async (_, ask) => {
    const answers: ModelAnswer[] = [
      { answer: long, cutAfter: 4 },
      { answer: long, malformedAfter: 4 },
    ]
    await using server = await startModelServer({ script: [...answers, ...answers, long] })
    for (const stream of [true, true, false, false]) await expect(ask(server.url, stream)).rejects.toThrow()
    expect(await ask(server.url, true)).toBeGreaterThan(5)
  })

  it('a stalled answer is silent until its client leaves', async () => {
    await using server = await startModelServer({ script: [{ answer: long, stallAfter: 3 }] })
    const leaving = new AbortController()
    const stream = await connect(server.url).chat.completions.create({ model: 'm', messages, stream: true }, { signal: leaving.signal })
    let chunks = 0
    for await (const _ of stream) {
      chunks += 1
      if (chunks === 3) setTimeout(() => leaving.abort(), 30)
    }
    expect(chunks).toBe(3)
  })

  it('a client that honours Retry-After comes again, after that time', async () => {
    await using server = await startModelServer({ script: [{ error: 429, retryAfterSeconds: 0.05 }, { error: 500 }, 'Here.'] })
    const client = new OpenAI({ baseURL: server.url, apiKey: 'test', maxRetries: 2 })
    expect((await client.chat.completions.create({ model: 'm', messages })).choices[0]?.message.content).toBe('Here.')
    expect(server.requests).toHaveLength(3)
  })

  it('an answer takes the time that it is told', async () => {
    await using server = await startModelServer({ script: [{ answer: 'a b c', delayMs: 40, chunkDelayMs: 10 }] })
    const before = performance.now()
    await read(connect(server.url).chat.completions.create({ model: 'm', messages, stream: true }))
    expect(performance.now() - before).toBeGreaterThan(60)
  })
})

describe('embeddings', () => {
  it('are the same for the same text', async () => {
    await using server = await startModelServer()
    const { data } = await connect(server.url).embeddings.create({ model: 'e', input: ['a', 'a', 'b'] })
    const [first, again, other] = data.map(({ embedding }) => embedding)
    expect(first).toEqual(again)
    expect(other).not.toEqual(first)
    expect(Math.hypot(...(first ?? []))).toBeCloseTo(1)
  })
})

/** How many events came; 1 for an unstreamed answer. */
async function read(answer: Promise<unknown>): Promise<number> {
  const value = await answer
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return 1
  let count = 0
  for await (const _ of value as AsyncIterable<unknown>) count += 1
  return count
}
