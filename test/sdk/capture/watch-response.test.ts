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
