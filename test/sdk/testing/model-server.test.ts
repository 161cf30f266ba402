import { startModelServer } from '@homeground/sdk/testing'
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
