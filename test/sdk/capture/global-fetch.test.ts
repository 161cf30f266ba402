// hg.fetch calls the global fetch, which the product may have replaced: by a stub, by a function of its own, by hg.fetch itself.
import { startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { registerHomeground } from '../../../sdk/homeground.ts'
import { recorded } from '../recorded.ts'

type Fetch = typeof globalThis.fetch

async function setUp() {
  const server = await startModelServer({ policy: () => 'ok' })
  onTestFinished(() => server.close())
  const native = globalThis.fetch
  onTestFinished(() => {
    globalThis.fetch = native
  })
  const { hg, exporter } = recorded()
  const ask = async (fetch: Fetch) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', body })
    await response.text()
    return response.status
  }
  const client = () => new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 })
  const chat = async (openai: OpenAI) => await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  /** How many spans there are since the last time. */
  const told = async () => {
    await hg.flush()
    return exporter.spans.splice(0).length
  }
  return { hg, exporter, server, ask, client, chat, told, native }
}

describe('the global fetch', () => {
  const places: [string, (fetch: Fetch) => Fetch][] = [
    ['hg.fetch itself', (fetch) => fetch],
    ['a function of the product’s that calls hg.fetch', (fetch) => (input, init) => fetch(input, init)],
    ['one that calls it later', (fetch) => async (input, init) => await new Promise(setImmediate).then(() => fetch(input, init))],
  ]
  it.each(places)('may be %s: calls of any kind come through, and each is recorded once', async (_, place) => {
    const { hg, ask, client, chat, told, server } = await setUp()
    globalThis.fetch = place(hg.fetch)
    for (let call = 0; call < 3; call += 1) {
      expect(await ask(globalThis.fetch)).toBe(200)
      expect(await told()).toBe(1)
    }
    expect(await ask(hg.fetch)).toBe(200)
    await chat(client())
    expect((await fetch(server.url)).status).toBeGreaterThan(0)
    expect(await told()).toBe(2)
  })

  it('that the product sets later is the one that hg.fetch calls, as a test’s stub is', async () => {
    const { hg, ask, told, server } = await setUp()
    const recording = hg.fetch
    globalThis.fetch = async () => new Response('{}', { status: 203 })
    expect([await ask(recording), await told(), server.requests.length]).toEqual([203, 1, 0])
  })

  it('that records, with a function of the product’s before it: each call is recorded once', async () => {
    const { hg, exporter, ask, client, chat, native } = await setUp()
    const registered = registerHomeground({ project: 'test', exporter })
    onTestFinished(() => registered.shutdown())
    const recording = globalThis.fetch
    expect(recording).not.toBe(native)
    globalThis.fetch = async (input, init) => await recording(input, init)
    const counted = async (call: () => Promise<unknown>) => {
      await call()
      await Promise.all([hg.flush(), registered.flush()])
      return exporter.spans.splice(0).length
    }
    const wrapped = hg.wrap(client())
    expect([
      await counted(() => ask(globalThis.fetch)),
      await counted(() => ask(hg.fetch)),
      await counted(() => chat(wrapped)),
      await counted(() => chat(client())),
    ]).toEqual([1, 1, 1, 1])
  })
})
