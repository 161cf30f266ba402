// The SDK is a guest: whatever happens to it, the product's calls return and throw exactly as unwrapped.
import http from 'node:http'
import { homeground } from '@homeground/sdk'
import { startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const messages = [{ role: 'user' as const, content: 'hi' }]
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function rawServer(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
}

/** What a call came to, as plain data: value, or the error's class, status and message. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call() }
  } catch (error) {
    return error instanceof Error
      ? { error: error.constructor.name, message: error.message, status: Reflect.get(error, 'status') }
      : { thrown: error }
  }
}

const plainCall = (client: OpenAI) => client.chat.completions.create({ model: 'm', messages })
const streamCall = async (client: OpenAI) => {
  const chunks: unknown[] = []
  for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true })) chunks.push(chunk)
  return chunks
}

async function sameAsUnwrapped(url: string, hg: ReturnType<typeof homeground>, call: (client: OpenAI) => Promise<unknown>) {
  const connect = () => new OpenAI({ baseURL: url, apiKey: 'k', maxRetries: 0, timeout: 2000 })
  const bare = await outcome(() => call(connect()))
  const wrapped = await outcome(() => call(hg.wrap(connect())))
  expect(wrapped).toEqual(bare)
  return bare
}

describe('a product’s calls', () => {
  it('are the same when the collector cannot be reached', async () => {
    const server = await startModelServer({ policy: () => 'same words' })
    closing.push(() => server.close())
    const hg = homeground({ project: 'test', endpoint: 'http://127.0.0.1:9' })
    closing.push(() => hg.shutdown(200))
    const bare = await outcome(() => plainCall(new OpenAI({ baseURL: server.url, apiKey: 'k' })))
    const wrapped = await outcome(() => plainCall(hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k' }))))
    expect({ ...(wrapped as { value: object }).value, id: 0 }).toEqual({ ...(bare as { value: object }).value, id: 0 })
    expect(await hg.agent('a', async () => 7)()).toBe(7)
    expect(await hg.flush(3000)).toBe(false)
    expect(hg.stats()).toMatchObject({ spans: 2, queuedSpans: 2, exported: 0, internalErrors: 0 })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('exporter')
      },
    ],
    ['rejects', () => Promise.reject(new Error('exporter'))],
    ['never answers', () => new Promise<void>(() => undefined)],
  ])('are the same when the exporter %s', async (_, fail) => {
    const server = await startModelServer({ policy: () => 'same words' })
    closing.push(() => server.close())
    const hg = homeground({ project: 'test', exporter: { export: fail } })
    closing.push(() => hg.shutdown(100))
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k' }))
    expect((await plainCall(client)).choices[0]?.message.content).toBe('same words')
    expect(await hg.tool({ name: 't', parameters: {}, execute: async () => 3 }).execute({})).toBe(3)
    await hg.flush(100)
  })

  const json = { 'content-type': 'application/json' }
  const events = { 'content-type': 'text/event-stream' }
  const hostile: [string, http.RequestListener][] = [
    ['an empty body', (_, response) => response.writeHead(200, json).end()],
    ['broken JSON', (_, response) => response.writeHead(200, json).end('{"choices":[{"mess')],
    ['JSON of another shape', (_, response) => response.writeHead(200, json).end('{"choices":{"7":[null]},"usage":"much","id":{}}')],
    ['a list', (_, response) => response.writeHead(200, json).end('[[[]]]')],
    ['HTML', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['no content type', (_, response) => response.writeHead(200).end('{}')],
    ['204', (_, response) => response.writeHead(204).end()],
    ['bytes that are no UTF-8', (_, response) => response.writeHead(200, json).end(Buffer.from([0xff, 0xfe, 0x00, 0x80]))],
    [
      'a connection that breaks in the body',
      (_, response) => response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"a":', () => response.destroy()),
    ],
    ['a connection that breaks before the head', (request) => request.socket.destroy()],
    ['an error with a strange body', (_, response) => response.writeHead(418, json).end('"teapot"')],
    [
      'a stream of nonsense',
      (_, response) =>
        response
          .writeHead(200, events)
          .end(
            'data: {"choices":[{"delta":{"tool_calls":[{"index":-1e9,"function":7}]}}]}\n\ndata: {"choices":null}\n\ndata: 7\n\n\u0000\n\ndata: [DONE]\n\n',
          ),
    ],
    [
      'a stream that breaks',
      (_, response) =>
        response
          .writeHead(200, events)
          .write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', () => setTimeout(() => response.destroy(), 20)),
    ],
    [
      'a stream with an error in it',
      (_, response) => response.writeHead(200, events).end('data: {"error":{"message":"boom","code":"x"}}\n\n'),
    ],
  ]
  it.each(hostile)('are the same when the answer is %s', async (_, handler) => {
    const url = await rawServer(handler)
    const hg = homeground({ project: 'test', exporter: { export: () => undefined } })
    closing.push(() => hg.shutdown(1000))
    await sameAsUnwrapped(url, hg, plainCall)
    await sameAsUnwrapped(url, hg, streamCall)
    await hg.flush()
    expect(hg.stats()).toMatchObject({ spans: 2, openSpans: 0, internalErrors: 0 })
  })

  it('are the same when arguments and results are circular, bigint, binary, or throw when they are looked at', async () => {
    const circular: Record<string, unknown> = { a: 1 }
    circular['self'] = circular
    const hostileValue = {
      circular,
      big: 10n ** 30n,
      bytes: Buffer.from('abc'),
      error: new TypeError('t'),
      map: new Map([['k', new Set([1])]]),
      date: new Date(0),
      nan: Number.NaN,
      deep: Array.from({ length: 1000 }).reduce((inner: unknown) => ({ inner }), 1),
      get trap() {
        throw new Error('do not look')
      },
      proxy: new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('nor here')
          },
        },
      ),
    }
    const spans: { attributes: Record<string, unknown> }[] = []
    const hg = homeground({ project: 'test', exporter: { export: (batch) => void spans.push(...batch) } })
    closing.push(() => hg.shutdown(1000))
    const tool = hg.tool({ name: 't', parameters: {}, execute: async (value: unknown) => value })
    const agent = hg.agent('a', async (value: Record<string, unknown>) => await tool.execute(value))
    expect(await agent(hostileValue)).toBe(hostileValue)
    await hg.flush()
    const recorded = JSON.parse(String(spans[0]?.attributes['gen_ai.tool.call.result']))
    expect(recorded).toMatchObject({
      circular: { a: 1, self: '[circular]' },
      big: '1000000000000000000000000000000',
      bytes: { type: 'blob', base64: 'YWJj' },
      error: { name: 'TypeError', message: 't' },
      map: { k: [1] },
      date: '1970-01-01T00:00:00.000Z',
      nan: 'NaN',
      trap: '[unreadable: Error]',
      proxy: '[unreadable: Error]',
    })
    expect(hg.stats()).toMatchObject({ spans: 2, internalErrors: 0 })
  })
})

describe('hostile values', () => {
  const hg = homeground({ project: 'test', endpoint: 'http://127.0.0.1:9' })
  afterAll(() => hg.shutdown(100))
  const throwing = (): never => {
    throw new Error('do not look')
  }

  it.each([
    [
      'a getter that throws',
      {
        id: '1',
        tags: {
          get plan(): string {
            return throwing()
          },
        },
      },
    ],
    ['null', null],
    ['undefined', undefined],
  ])('as a session (%s) leave the work inside untouched', (_, session) => {
    expect(hg.session(session as never, () => 'done')).toBe('done')
  })

  it.each([
    ['a proxy that refuses unknown names', new Proxy({}, { get: throwing })],
    ['null', null],
    ['undefined', undefined],
    ['a number', 7n],
    ['a symbol', Symbol('client')],
    ['a frozen object', Object.freeze({ fetch })],
  ])('as a client (%s) come back as they are', (_, client) => {
    expect(hg.wrap(client as never)).toBe(client)
  })

  it('as the agent’s result come back as they are', () => {
    const proxy = new Proxy({}, { getPrototypeOf: throwing, has: throwing })
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(Object.is(hg.agent('a', () => proxy)(), proxy)).toBe(true)
    expect(Object.is(hg.agent('a', () => revoked)(), revoked)).toBe(true)
  })
})
