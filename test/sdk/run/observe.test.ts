// What an agent or a tool gives belongs to the product: it gets that very object, as lazy as it was, and the span ends as the product's use of it ends.
import { startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { recorded } from '../recorded.ts'

function setUp() {
  const { hg, exporter } = recorded()
  /** The agent's spans, put together now. */
  const agents = async () => {
    await hg.flush()
    expect(hg.stats()).toMatchObject({ internalErrors: 0 })
    return exporter.spans
      .filter(({ name }) => name.startsWith('invoke_agent'))
      .map(({ attributes: a }) => ({
        output: a['homeground.agent.output'],
        error: a['error.type'],
        ...(a['homeground.partial'] === undefined ? {} : { partial: a['homeground.partial'] }),
      }))
  }
  return { hg, agents }
}

async function openai() {
  const server = await startModelServer({ policy: () => 'two words' })
  onTestFinished(() => server.close())
  return new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 })
}

const messages = [{ role: 'user' as const, content: 'hi' }]
const words = async function* () {
  yield 'a'
  yield 'b'
}

/** An object with a `then` of its own. */
const thenable = (then: <T>(fulfilled: (value: unknown) => T) => T | Promise<T>): PromiseLike<unknown> =>
  Object.assign(Object.create(null), Object.fromEntries([['then', then]]))

describe('an agent that gives something frozen', () => {
  it.each<[string, () => object]>([
    ['generator', words],
    ['iterable', () => ({ [Symbol.asyncIterator]: words })],
    ['thenable', () => thenable((fulfilled) => fulfilled('x'))],
  ])('gives that %s, and its span ends there', async (_, make) => {
    const { hg, agents } = setUp()
    const frozen = Object.freeze(make())
    expect(Object.is(hg.agent('a', () => frozen)(), frozen)).toBe(true)
    expect(await agents()).toEqual([{ output: undefined, error: undefined, partial: true }])
  })
})

it('an agent that gives a proxy: it is looked at, never changed', async () => {
  const { hg, agents } = setUp()
  const changes: unknown[] = []
  const change = (_: object, key: string | symbol) => changes.push(key) > 0
  for (const target of [thenable((fulfilled) => fulfilled(1)), words(), { [Symbol.asyncIterator]: words }, { a: 1 }]) {
    const proxy = new Proxy(target, { defineProperty: change, set: change })
    expect(Object.is(hg.agent('a', () => proxy)(), proxy)).toBe(true)
  }
  expect(changes).toEqual([])
  expect((await agents()).map(({ output }) => output)).toEqual([expect.any(String), '{}', '{}', '{"a":1}'])
})

describe('an agent that gives an iterator', () => {
  it('whose next() answers at once, which `for await` takes, is recorded', async () => {
    const { hg, agents } = setUp()
    let left = 2
    const iterator = {
      next: () => (left-- > 0 ? { done: false, value: left } : { done: true, value: undefined }),
      [Symbol.asyncIterator]: () => iterator,
    }
    const seen: unknown[] = []
    const given: AsyncIterable<unknown> = hg.agent('a', (): never => iterator as never)()
    for await (const item of given) seen.push(item)
    expect(seen).toEqual([1, 0])
    expect(await agents()).toEqual([{ output: '[1,0]', error: undefined }])
  })

  it('whose next() throws, or answers with what is no step, fails as it does bare', async () => {
    const { hg, agents } = setUp()
    const failure = new RangeError('mine')
    const throwing = {
      next: () => {
        throw failure
      },
      [Symbol.asyncIterator]: () => throwing,
    }
    const odd = { next: async () => undefined, [Symbol.asyncIterator]: () => odd }
    const read = async (iterable: object) => {
      for await (const _ of iterable as AsyncIterable<unknown>);
    }
    await expect(read(hg.agent('a', () => throwing)())).rejects.toBe(failure)
    await expect(read(hg.agent('a', () => odd)())).rejects.toThrow('Iterator result undefined is not an object')
    expect(await agents()).toEqual([
      { output: undefined, error: 'RangeError' },
      { output: undefined, error: 'TypeError' },
    ])
  })

  it('from a plain generator function runs inside the agent, and is recorded with what it yielded', async () => {
    const { hg, agents } = setUp()
    const count = hg.agent('a', function* (n: number) {
      for (let i = 0; i < n; i += 1) yield `${i}${hg.trace() !== undefined}`
    })
    expect([...count(2)]).toEqual(['0true', '1true'])
    for (const _ of count(3)) break
    expect(await agents()).toEqual([
      { output: '"0true1true"', error: undefined },
      { output: '"0true"', error: undefined },
    ])
  })
})

describe('an agent that gives what is lazy', () => {
  it('leaves it so: nothing runs until the product asks, then inside the agent, and the product’s callbacks outside', async () => {
    const { hg, agents } = setUp()
    const ran: unknown[] = []
    const lazy = thenable((fulfilled) => {
      ran.push(hg.trace() !== undefined)
      return Promise.resolve('rows').then(fulfilled)
    })
    const given = hg.agent('a', () => lazy)()
    await new Promise(setImmediate)
    expect([ran, given === lazy, Object.keys(given)]).toEqual([[], true, ['then']])
    expect(await given.then((value) => [value, hg.trace()])).toEqual(['rows', undefined])
    expect(ran).toEqual([true])
    expect(await agents()).toEqual([{ output: '"rows"', error: undefined }])
  })

  it('leaves the vendor’s promise unread: its body is still there for asResponse() and withResponse()', async () => {
    const { hg, agents } = setUp()
    const client = await openai()
    const ask = hg.agent('a', () => client.chat.completions.create({ model: 'm', messages }))
    expect(await (await ask().asResponse()).json()).toMatchObject({ choices: [{ message: { content: 'two words' } }] })
    const { data, response } = await ask().withResponse()
    expect([data.choices[0]?.message.content, response.status]).toEqual(['two words', 200])
    expect((await ask()).choices[0]?.message.content).toBe('two words')
    expect((await ask().catch(() => undefined))?.choices[0]?.message.content).toBe('two words')
    expect((await ask().finally(() => undefined)).choices[0]?.message.content).toBe('two words')
    const whole = { output: expect.stringContaining('two words'), error: undefined }
    expect(await agents()).toEqual([{ output: undefined, error: undefined, partial: true }, whole, whole, whole, whole])
  })

  it('sees it fail as the product does', async () => {
    const { hg, agents } = setUp()
    const client = new OpenAI({ baseURL: 'http://127.0.0.1:9/v1', apiKey: 'k', maxRetries: 0 })
    const ask = hg.agent('a', () => client.chat.completions.create({ model: 'm', messages }))
    await expect(ask()).rejects.toBeInstanceOf(OpenAI.APIConnectionError)
    expect(await ask().catch((error: Error) => error.message)).toBe('Connection error.')
    await expect(ask().finally(() => undefined)).rejects.toBeInstanceOf(OpenAI.APIConnectionError)
    await expect(ask().withResponse()).rejects.toBeInstanceOf(OpenAI.APIConnectionError)
    await expect(ask().asResponse()).rejects.toBeInstanceOf(OpenAI.APIConnectionError)
    expect(await agents()).toEqual(Array.from({ length: 5 }, () => ({ output: undefined, error: 'Error' })))
  })

  it('may give the same object ten thousand times: each call is recorded, and its use costs no deeper stack', async () => {
    const { hg, agents } = setUp()
    const one = thenable((fulfilled) => fulfilled(1))
    const agent = hg.agent('a', () => one)
    for (let i = 0; i < 10_000; i += 1) void agent()
    expect(await agent()).toBe(1)
    const all = await agents()
    expect([all.length, all.filter(({ output }) => output === '1').length]).toEqual([10_001, 100])
    expect(hg.stats().openSpans).toBe(0)
  })
})

describe('an agent that gives a vendor’s stream', () => {
  const text = (output: unknown) => {
    const chunks: OpenAI.ChatCompletionChunk[] = JSON.parse(String(output))
    return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  }
  it.each<
    [
      string,
      (stream: AsyncIterable<OpenAI.ChatCompletionChunk> & { tee(): object[]; toReadableStream(): object }) => AsyncIterable<unknown>,
    ]
  >([
    ['iterated', (stream) => stream],
    ['in halves', (stream) => stream.tee()[0] as AsyncIterable<unknown>],
    ['as a web stream', (stream) => stream.toReadableStream() as AsyncIterable<unknown>],
  ])('is recorded with what was streamed: %s', async (_, use) => {
    const { hg, agents } = setUp()
    const client = await openai()
    const ask = hg.agent('a', async () => await client.chat.completions.create({ model: 'm', messages, stream: true }))
    const stream = await ask()
    expect(stream.constructor.name).toBe('Stream')
    let chunks = 0
    for await (const _ of use(stream)) chunks += 1
    expect(chunks).toBeGreaterThan(2)
    const [agent] = await agents()
    expect([text(agent?.output), agent?.error]).toEqual(['two words', undefined])
  })
})
