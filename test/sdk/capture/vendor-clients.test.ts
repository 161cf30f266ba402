// The clients that products use, each unwrapped and wrapped: the same requests leave, the same values and errors come back, and one call is recorded.
import http from 'node:http'
import zlib from 'node:zlib'
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk'
import Anthropic from '@anthropic-ai/sdk'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { homeground } from '@homeground/sdk'
import { MemoryExporter, type ModelAnswer, startModelServer } from '@homeground/sdk/testing'
import OpenAI, { AzureOpenAI } from 'openai'
import OpenAI7, { AzureOpenAI as AzureOpenAI7 } from 'openai7'
import { describe, expect, it } from 'vitest'

const messages = [{ role: 'user' as const, content: 'Where is order 7?' }]
type Server = Awaited<ReturnType<typeof startModelServer>>

/** A product's own client: its constructor takes nothing that the vendor's `withOptions` could know. */
class TenantOpenAI extends OpenAI {
  readonly tenant: string
  constructor(tenant: string, url: string) {
    super({ baseURL: url, apiKey: `key-of-${tenant}`, maxRetries: 0, defaultHeaders: { 'x-tenant': tenant } })
    this.tenant = tenant
  }
}

/** What @anthropic-ai/vertex-sdk asks of Google's client. */
const google = { projectId: 'p', getRequestHeaders: async () => new Headers({ authorization: 'Bearer google-token' }) }

const text = async (answer: Promise<{ choices: { message: { content: string | null } }[] }>) => (await answer).choices[0]?.message.content
const streamed = async (answer: Promise<AsyncIterable<{ choices: { delta: { content?: string | null } }[] }>>) => {
  let all = ''
  for await (const chunk of await answer) all += chunk.choices[0]?.delta.content ?? ''
  return all
}
const blocks = async (answer: PromiseLike<Anthropic.Message>) =>
  (await answer).content.map((block) => (block.type === 'text' ? block.text : block.type)).join()

interface Vendor {
  client: (server: Server) => object
  plain: (client: never) => Promise<unknown>
  stream: (client: never) => Promise<unknown>
  expected: { path: RegExp; provider: string; model: string; api: string }
}

const chat = { path: /^\/v1\/chat\/completions$/, provider: 'openai', model: 'm', api: 'openai.chat' }
const openai6 = {
  plain: (client: OpenAI) => text(client.chat.completions.create({ model: 'm', messages })),
  stream: (client: OpenAI) => streamed(client.chat.completions.create({ model: 'm', messages, stream: true })),
}
const openai7 = {
  plain: (client: OpenAI7) => text(client.chat.completions.create({ model: 'm', messages })),
  stream: (client: OpenAI7) => streamed(client.chat.completions.create({ model: 'm', messages, stream: true })),
}
const azure = { path: /^\/openai\/deployments\/mine\/chat\/completions$/, provider: 'openai', model: 'm', api: 'openai.chat' }
const anthropic = {
  plain: (client: Anthropic) => blocks(client.messages.create({ model: 'claude', max_tokens: 9, messages })),
  stream: (client: Anthropic) => blocks(client.messages.stream({ model: 'claude', max_tokens: 9, messages }).finalMessage()),
}

const vendors: Record<string, Vendor> = {
  'openai 6': { client: ({ url }) => new OpenAI({ baseURL: url, apiKey: 'k', maxRetries: 0 }), ...openai6, expected: chat },
  'openai 7': { client: ({ url }) => new OpenAI7({ baseURL: url, apiKey: 'k', maxRetries: 0 }), ...openai7, expected: chat },
  'AzureOpenAI 6': {
    client: ({ origin }) => new AzureOpenAI({ endpoint: origin, apiKey: 'k', apiVersion: '2026-01-01', deployment: 'mine', maxRetries: 0 }),
    ...openai6,
    expected: azure,
  },
  'AzureOpenAI 7': {
    client: ({ origin }) =>
      new AzureOpenAI7({ endpoint: origin, apiKey: 'k', apiVersion: '2026-01-01', deployment: 'mine', maxRetries: 0 }),
    ...openai7,
    expected: azure,
  },
  'a subclass with a constructor of its own': { client: ({ url }) => new TenantOpenAI('acme', url), ...openai6, expected: chat },
  '@anthropic-ai/sdk': {
    client: ({ origin }) => new Anthropic({ baseURL: origin, apiKey: 'k', maxRetries: 0 }),
    ...anthropic,
    expected: { path: /^\/v1\/messages$/, provider: 'anthropic', model: 'claude', api: 'anthropic.messages' },
  },
  '@anthropic-ai/sdk, beta': {
    client: ({ origin }) => new Anthropic({ baseURL: origin, apiKey: 'k', maxRetries: 0 }),
    plain: async (client: Anthropic) =>
      (await client.beta.messages.create({ model: 'claude', max_tokens: 9, messages })).content.map(({ type }) => type),
    stream: async (client: Anthropic) =>
      (await client.beta.messages.stream({ model: 'claude', max_tokens: 9, messages }).finalMessage()).content.map(({ type }) => type),
    expected: { path: /^\/v1\/messages$/, provider: 'anthropic', model: 'claude', api: 'anthropic.messages' },
  },
  '@anthropic-ai/vertex-sdk': {
    client: ({ url }) => new AnthropicVertex({ baseURL: url, region: 'here', projectId: 'p', authClient: google as never, maxRetries: 0 }),
    ...anthropic,
    expected: {
      path: /^\/v1\/projects\/p\/locations\/here\/publishers\/anthropic\/models\/claude:(streamRawPredict|rawPredict)$/,
      provider: 'anthropic',
      model: 'claude',
      api: 'anthropic.messages',
    },
  },
  '@anthropic-ai/bedrock-sdk': {
    client: ({ origin }) => new AnthropicBedrock({ baseURL: origin, apiKey: 'k', awsRegion: 'here', maxRetries: 0 }),
    plain: (client: AnthropicBedrock) =>
      blocks(client.messages.create({ model: 'anthropic.claude-v1:0', max_tokens: 9, messages }) as Promise<Anthropic.Message>),
    stream: (client: AnthropicBedrock) =>
      blocks(client.messages.create({ model: 'anthropic.claude-v1:0', max_tokens: 9, messages }) as Promise<Anthropic.Message>),
    expected: {
      path: /^\/model\/anthropic\.claude-v1:0\/invoke$/,
      provider: 'anthropic',
      model: 'anthropic.claude-v1:0',
      api: 'anthropic.messages',
    },
  },
}

const answers: ModelAnswer[] = ['It is on its way.', 'It is on its way.', { error: 429, message: 'slow down' }]

describe.each(Object.entries(vendors))('%s', (_, vendor) => {
  it('behaves wrapped as it does unwrapped, and each call is recorded once', async () => {
    const bare = await use(vendor, (client) => client)
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const wrapped = await use(vendor, (client) => {
      const same = hg.wrap(client)
      expect(same).toBe(client)
      return same
    })
    await hg.shutdown()
    expect(wrapped).toEqual(bare)
    expect(wrapped.paths.every((path) => vendor.expected.path.test(path))).toBe(true)
    const { provider, model, api } = vendor.expected
    expect(
      exporter.spans.map(({ name, attributes }) => [
        name,
        attributes['gen_ai.provider.name'],
        attributes['gen_ai.request.model'],
        attributes['homeground.api'],
        attributes['error.type'],
      ]),
    ).toEqual([undefined, undefined, '429'].map((error) => [`chat ${model}`, provider, model, api, error]))
    expect(exporter.spans.map(({ attributes }) => attributes['homeground.request.body'])).toEqual(wrapped.bodies)
    expect(String(exporter.spans[1]?.attributes['homeground.response.body'])).toContain('It is on its way.')
  })
})

async function use(vendor: Vendor, prepare: (client: object) => object) {
  await using server = await startModelServer({ script: answers })
  const client = prepare(vendor.client(server)) as never
  const values = [await vendor.plain(client), await vendor.stream(client)]
  const error: unknown = await vendor.plain(client).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return {
    values,
    error: error instanceof Error ? [error.constructor.name, error.message, Reflect.get(error, 'status')] : error,
    paths: server.requests.map(({ path }) => path),
    bodies: server.requests.map(({ text: body }) => body),
    headers: server.requests.map(({ headers: { host: _, ...headers } }) => headers),
  }
}

describe('a stream in AWS’s framing', () => {
  it('passes through untouched, and is recorded as the unstreamed answer: Bedrock’s binary events', async () => {
    const events = [
      {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'c', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is on its way.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]
    const server = http.createServer((request, response) => {
      request.resume().on('end', async () => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        for (const event of events) {
          response.write(frame(event))
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const baseURL = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const ask = async (client: AnthropicBedrock) => {
      const seen: unknown[] = []
      for await (const event of await client.messages.create({ model: 'anthropic.c', max_tokens: 9, messages, stream: true }))
        seen.push(event)
      return seen
    }
    const connect = () => new AnthropicBedrock({ baseURL, apiKey: 'k', awsRegion: 'here', maxRetries: 0 })
    const bare = await ask(connect())
    expect(await ask(hg.wrap(connect()))).toEqual(bare)
    expect(bare).toEqual(events)
    await hg.shutdown()
    server.close()
    expect(exporter.spans.map(({ name, status, attributes }) => [name, status.code, attributes['homeground.partial']])).toEqual([
      ['chat anthropic.c', 0, undefined],
    ])
    expect(JSON.parse(String(exporter.spans[0]?.attributes['homeground.response.body']))).toMatchObject({
      id: 'msg_1',
      content: [{ type: 'text', text: 'It is on its way.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 5 },
    })
    expect(hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
  })
})

/** A message of AWS's event stream encoding: lengths, headers, payload, each with its checksum. */
function frame(event: object): Buffer {
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }))
  const headers = Buffer.concat(
    Object.entries({ ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(value.length)
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
    }),
  )
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0)
  prelude.writeUInt32BE(headers.length, 4)
  const head = Buffer.concat([prelude, checksum(prelude), headers, payload])
  return Buffer.concat([head, checksum(head)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(zlib.crc32(bytes))
  return sum
}
