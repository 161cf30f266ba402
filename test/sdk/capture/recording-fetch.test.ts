import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'

const url = 'http://model.test/v1/chat/completions'
const post = (body: string): RequestInit => ({ method: 'POST', body })
const names = (exporter: MemoryExporter) => exporter.spans.map(({ name }) => name)

describe('a recording fetch over a fetch that breaks its contract', () => {
  it('sends once where that gives a lazy thenable, which sends each time it is asked', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    let sent = 0
    const lazy = () => ({
      // biome-ignore lint/suspicious/noThenProperty: it is what is tested
      then: (done: (response: Response) => unknown) => {
        sent += 1
        return Promise.resolve(new Response('{"id":"a"}')).then(done)
      },
    })
    const response: Response = await Reflect.apply(hg.wrap({ fetch: lazy }).fetch, undefined, [url, post('{"model":"m"}')])
    expect(await response.json()).toEqual({ id: 'a' })
    await hg.flush()
    expect({ sent, spans: names(exporter), open: hg.stats().openSpans }).toEqual({ sent: 1, spans: ['chat m'], open: 0 })
  })
})

describe('a recording fetch under another', () => {
  const nested = () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const global = hg.wrap({ fetch: async (_url: string, _init: RequestInit) => new Response('{"id":"a"}') })
    return { exporter, hg, global }
  }

  it('records a call once that a custom fetch sends on, also later and with other headers', async () => {
    const { exporter, hg, global } = nested()
    const client = hg.wrap({
      fetch: async (to: string, init: RequestInit) => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        return await global.fetch(to, { ...init, headers: { authorization: 'x' } })
      },
    })
    expect(await (await client.fetch(url, post('{"model":"m"}'))).json()).toEqual({ id: 'a' })
    await hg.flush()
    expect(names(exporter)).toEqual(['chat m'])
  })

  it('records another call that the custom fetch makes, and the next one with the same body', async () => {
    const { exporter, hg, global } = nested()
    const client = hg.wrap({
      fetch: async (to: string, init: RequestInit) => {
        await (await global.fetch(to, post('{"model":"moderation"}'))).json()
        return await global.fetch(to, init)
      },
    })
    await (await client.fetch(url, post('{"model":"m"}'))).json()
    await (await global.fetch(url, post('{"model":"m"}'))).json()
    await hg.flush()
    expect(names(exporter).toSorted()).toEqual(['chat m', 'chat m', 'chat moderation'])
  })
})

describe('bodies that are held until they are put together', () => {
  it('count against one bound: what is beyond it is cut, and room comes back', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter, maxQueueBytes: 5000 })
    const answer = `{"text":"${'x'.repeat(3000)}"}`
    const client = hg.wrap({ fetch: async (_url: string, _init: RequestInit) => new Response(answer) })
    const read = async () => (await client.fetch(url, post('{"model":"m"}'))).text()
    expect(await Promise.all([read(), read()])).toEqual([answer, answer])
    await hg.flush()
    expect(await read()).toBe(answer)
    await hg.flush()
    expect(
      exporter.spans.map(({ attributes }) => [attributes['homeground.response.body'] === answer, attributes['homeground.partial']]),
    ).toEqual([
      [true, undefined],
      [false, true],
      [true, undefined],
    ])
    expect(hg.stats().internalErrors).toBe(0)
  })
})

describe('a Request with a body that streams', () => {
  const setUp = (answer: (request: Request) => Promise<Response>) => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const send = (body: ReadableStream) => {
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
      return Reflect.apply(hg.wrap({ fetch: answer }).fetch, undefined, [new Request(url, init)])
    }
    return { hg, exporter, send }
  }

  it('that fails rejects as the product’s fetch does, and leaves no rejection of ours', async () => {
    const unhandled: unknown[] = []
    const listen = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', listen)
    const { hg, exporter, send } = setUp(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      await request.text()
      return new Response('{}')
    })
    const broken = new ReadableStream({
      pull() {
        throw new RangeError('the file is gone')
      },
    })
    await expect(send(broken)).rejects.toThrow('the file is gone')
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off('unhandledRejection', listen)
    await hg.flush()
    expect({ unhandled, spans: exporter.spans.length, open: hg.stats().openSpans }).toEqual({ unhandled: [], spans: 1, open: 0 })
  })

  it('that is very long is not read to its end by us', async () => {
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    const { hg, exporter, send } = setUp(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return new Response('{}')
    })
    await (await send(endless)).json()
    expect(pulled).toBeLessThan(40)
    await hg.shutdown(500)
    expect(exporter.spans[0]?.attributes).toMatchObject({ 'homeground.partial': true, 'homeground.response.body': '{}' })
    expect(exporter.spans[0]?.attributes['homeground.request.body']).toBeUndefined()
  })
})

describe('a key that an error repeats', () => {
  it('is recorded neither of the call, nor of the agent and the tool that the error goes up through', async () => {
    const key = '0123456789abcdef0123456789abcdef'
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const client = hg.wrap({
      fetch: async (_url: string, _init: RequestInit) => new Response(`{"error":{"message":"no such key: ${key}"}}`, { status: 401 }),
    })
    const search = hg.tool({
      name: 'search',
      parameters: { type: 'object' },
      execute: async () => {
        const response = await client.fetch(url, { ...post('{"model":"m"}'), headers: { 'api-key': key } })
        throw new Error(`401 ${await response.text()}`)
      },
    })
    const agent = hg.agent('a', async () => await search.execute({}))
    await expect(agent()).rejects.toThrow(key)
    await hg.flush()
    expect(exporter.spans).toHaveLength(3)
    expect(JSON.stringify(exporter.spans.map(({ attributes, status }) => ({ attributes, status })))).not.toContain(key)
  })

  it('is not recorded of an address with a password in it', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    await expect(hg.fetch('http://ada:tr0ub4dor@model.test/v1/chat/completions', post('{"model":"m"}'))).rejects.toThrow('tr0ub4dor')
    await hg.flush()
    expect(exporter.spans).toHaveLength(1)
    expect(JSON.stringify(exporter.spans.map(({ attributes, status }) => ({ attributes, status })))).not.toContain('tr0ub4dor')
  })
})
