import { createHash } from 'node:crypto'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'

const maxBodyBytes = 2 * 1024 * 1024

/** What is recorded of one call, with a bound of 2 MiB. */
async function recorded(request: string, body: string, options: { type?: string; read?: 'text' | 'json' | 'arrayBuffer' } = {}) {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter, maxBodyBytes })
  const client = hg.wrap({
    fetch: async (_url: string, _init: RequestInit) =>
      new Response(body, { headers: { 'content-type': options.type ?? 'application/json' } }),
  })
  await (await client.fetch('http://model.test/v1/chat/completions', { method: 'POST', body: request }))[options.read ?? 'text']()
  await hg.shutdown()
  const attributes = exporter.spans[0]?.attributes ?? {}
  return {
    request: attributes['homeground.request.body'],
    response: attributes['homeground.response.body'],
    partial: attributes['homeground.partial'],
    omitted: attributes['homeground.response.omitted'],
    outputTokens: attributes['gen_ai.usage.output_tokens'],
    model: attributes['gen_ai.request.model'],
  }
}

const asked = '{"model":"m"}'
const answer = (content: string) =>
  JSON.stringify({
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  })
const words = (characters: number) => 'many words '.repeat(characters / 11)

describe('a body over its bound', () => {
  it.each(['text', 'json'] as const)('of an answer read by %s() is left out, and said to be; what it counts is kept', async (read) => {
    expect(await recorded(asked, answer(words(3_000_000)), { read })).toEqual({
      request: asked,
      response: undefined,
      partial: true,
      omitted: 'over maxBodyBytes',
      outputTokens: 2,
      model: 'm',
    })
  })

  it('counts bytes, not characters', async () => {
    expect(await recorded(asked, answer('é'.repeat(1_200_000)))).toMatchObject({ response: undefined, omitted: 'over maxBodyBytes' })
    expect(await recorded(asked, answer('e'.repeat(1_200_000)))).toMatchObject({ partial: undefined, omitted: undefined })
  })

  it('of a stream is recorded as far as it fits, and said to be cut', async () => {
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: words(1_000_000) } }] })
    const body = `data: ${chunk}\n\n`.repeat(3)
    const { response, ...rest } = await recorded(asked, body, { type: 'text/event-stream', read: 'arrayBuffer' })
    expect(rest).toMatchObject({ partial: true, omitted: 'over maxBodyBytes' })
    expect(response === undefined || String(response).length < maxBodyBytes).toBe(true)
  })

  it('of a request is left out; the call is partial', async () => {
    const request = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: words(3_000_000) }] })
    expect(await recorded(request, answer('yes'))).toEqual({
      request: undefined,
      response: answer('yes'),
      partial: true,
      omitted: undefined,
      outputTokens: 2,
      model: 'm',
    })
  })
})

describe('an answer with a file', () => {
  it('that is large is recorded with its digest', async () => {
    const image = Buffer.alloc(3_000_000, 7)
    const { response, partial } = await recorded(asked, JSON.stringify({ data: [{ b64_json: image.toString('base64') }] }))
    const digest = `bytes=${image.byteLength};sha256=${createHash('sha256').update(image).digest('hex')}`
    expect({ response, partial }).toEqual({ response: JSON.stringify({ data: [{ b64_json: digest }] }), partial: undefined })
  })
})
