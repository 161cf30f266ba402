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
    const hg = homeground({ project: 'test', exporter, maxQueueBytes: 1000 })
    const answer = `{"id":"${'x'.repeat(600)}"}`
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
