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
