import v8 from 'node:v8'
import vm from 'node:vm'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'

/** A client whose endpoint answers with these bytes. */
function recorded(body: string | Uint8Array<ArrayBuffer>) {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const client = hg.wrap({
    fetch: async (_url: string, _init: RequestInit) => new Response(body, { headers: { 'content-type': 'application/json' } }),
  })
  const call = () => client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
  return { hg, exporter, call }
}

describe('a body that the caller reads as JSON', () => {
  it('is recorded byte for byte, also where its value could not be written again', async () => {
    const body = '{ "id": "a",\n  "choices": [{"message": {"content": "\\u00e9"}}], "big": 12345678901234567890, "one": 1.0 }'
    const { hg, exporter, call } = recorded(body)
    expect(await (await call()).json()).toEqual(JSON.parse(body))
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.response.body']).toBe(body)
  })

  it.each([
    ['no JSON', '{"cut": '],
    ['nothing at all', ''],
    ['JSON behind a byte order mark', new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
    ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ])('gives the caller what an unrecorded one gives: %s', async (_, body) => {
    const settle = (response: Response) =>
      response.json().then(
        (value: unknown) => ({ value }),
        (error: Error) => ({ name: error.name, message: error.message }),
      )
    expect(await settle(await recorded(body).call())).toEqual(await settle(new Response(body)))
  })

  const circle: { self?: unknown } = {}
  circle.self = circle
  it.each<[string, unknown, string | undefined]>([
    ['a BigInt', { big: 10n ** 20n }, '{"big":"100000000000000000000"}'],
    ['a circle', circle, '{"self":"[circular]"}'],
    ['nothing', undefined, undefined],
  ])('gives the caller what a fake’s own json() gives, also where that is no JSON: %s', async (_, value, body) => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const client = hg.wrap({
      fetch: async (_url: string, _init: RequestInit) => Object.assign(new Response('{}'), { json: async () => value }),
    })
    const response = await client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
    expect(await response.json()).toBe(value)
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.response.body']).toBe(body)
  })

  it('cannot be read twice, with the error of an unrecorded one', async () => {
    const twice = async (response: Response) => {
      await response.json()
      return await response.json().catch((error: Error) => ({ name: error.name, message: error.message }))
    }
    expect(await twice(await recorded('{}').call())).toEqual(await twice(new Response('{}')))
  })
})

describe('a body that is piped', () => {
  const sink = () => new WritableStream<Uint8Array>()
  const streamed = async () => {
    const chunks = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const text of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(text))
          controller.close()
        },
      })
    const client = homeground({ project: 'test', exporter: new MemoryExporter() }).wrap({
      fetch: async (_url: string, _init: RequestInit) => new Response(chunks(), { headers: { 'content-type': 'text/event-stream' } }),
    })
    const given = await client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
    return [given, new Response(chunks())] as const
  }
  it.each<[string, (body: ReadableStream<Uint8Array>) => Promise<unknown>]>([
    ['nothing', (body) => Reflect.apply(body.pipeTo, body, [undefined])],
    ['a stream that is locked', (body) => body.pipeTo(lockedSink())],
    ['an object', async (body) => Reflect.apply(body.pipeThrough, body, [{}])],
  ])('into what takes no pipe, %s, can still be read', async (_, pipe) => {
    const seen = []
    for (const response of await streamed()) {
      const refused = await pipe(bodyOf(response)).catch((error: Error) => error.name)
      seen.push({ refused, text: await response.text() })
    }
    expect(seen[0]).toEqual({ refused: 'TypeError', text: 'one two' })
    expect(seen[0]).toEqual(seen[1])
  })

  const lockedSink = () => {
    const made = sink()
    made.getWriter()
    return made
  }
  const bodyOf = ({ body }: Response) => {
    if (body === null) throw new Error('there is a body')
    return body
  }

  it.each<[string, (body: ReadableStream<Uint8Array>) => Promise<unknown>]>([
    ['pipeTo', (body) => body.pipeTo(sink())],
    ['pipeThrough', (body) => body.pipeThrough(new TransformStream()).pipeTo(sink())],
    ['a pipe that is broken off', (body) => body.pipeTo(sink(), { signal: AbortSignal.abort() }).catch((error: Error) => error.name)],
    [
      'a pipe into what fails',
      (body) =>
        body
          .pipeTo(
            new WritableStream({
              write() {
                throw new TypeError('full')
              },
            }),
          )
          .catch((error: Error) => error.message),
    ],
  ])('is locked while it runs and free afterwards, as an unrecorded one: %s', async (_, pipe) => {
    const seen = []
    for (const response of await streamed()) {
      const body = bodyOf(response)
      const piped = pipe(body)
      const during = body.locked
      const result = await piped
      // Nothing more of it is to be read by anybody.
      seen.push({ during, result, after: body.locked, left: await body.getReader().read() })
    }
    expect(seen[0]).toEqual(seen[1])
  })
})

describe('a response that nobody holds any more', () => {
  v8.setFlagsFromString('--expose-gc')
  const collect: () => void = vm.runInNewContext('gc')
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

  const setUp = (type: string, chunks: readonly string[]) => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const client = hg.wrap({
      fetch: async (_url: string, _init: RequestInit) => {
        const body = new ReadableStream<Uint8Array>({
          async start(controller) {
            for (const chunk of chunks) {
              await turn()
              controller.enqueue(new TextEncoder().encode(chunk))
            }
            controller.close()
          },
        })
        return new Response(body, { headers: { 'content-type': type } })
      },
    })
    const call = () => client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
    const recorded = async () => {
      await hg.flush()
      const [span] = exporter.spans
      return {
        spans: exporter.spans.length,
        partial: span?.attributes['homeground.partial'],
        body: span?.attributes['homeground.response.body'],
      }
    }
    return { call, recorded }
  }
  const words = ['one ', 'two ', 'three ', 'four']
  const events = [...words.map((content) => ({ delta: { content } })), { delta: {}, finish_reason: 'stop' }].map(
    (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`,
  )

  it.each<[string, (response: Response) => ReadableStream<Uint8Array> | null]>([
    ['its body', (response) => response.body],
    ['a pipe of its body', (response) => response.body?.pipeThrough(new TransformStream()) ?? null],
    ['its clone', (response) => response.clone().body],
    ['half of a tee', (response) => response.body?.tee()[0] ?? null],
  ])('is recorded whole while somebody reads %s', async (_, part) => {
    const { call, recorded } = setUp('text/event-stream', events)
    const reader = part(await call())?.getReader()
    let text = ''
    for (;;) {
      await turn()
      collect()
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) break
      text += new TextDecoder().decode(value)
    }
    expect(text).toBe(events.join(''))
    const { body, ...rest } = await recorded()
    expect(rest).toEqual({ spans: 1, partial: undefined })
    expect(JSON.parse(String(body)).choices[0].message.content).toBe(words.join(''))
  })

  it.each(['text', 'json', 'arrayBuffer'] as const)('is recorded whole while somebody waits for %s()', async (read) => {
    const { call, recorded } = setUp('application/json', ['{"id":', '"a",', '"choices":', '[]}'])
    const promise = (await call())[read]()
    for (let time = 0; time < 6; time += 1) {
      collect()
      await turn()
    }
    await promise
    expect(await recorded()).toEqual({ spans: 1, partial: undefined, body: '{"id":"a","choices":[]}' })
  })
})
