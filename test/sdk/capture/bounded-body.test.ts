import { createHash } from 'node:crypto'
import { dialectOf, type Json } from '@homeground/sdk/trace'
import { describe, expect, it } from 'vitest'
import { boundedBody } from '../../../sdk/capture/bounded-body.ts'

const image = Buffer.alloc(1024 * 1024, 7)
const digest = `bytes=${image.byteLength};sha256=${createHash('sha256').update(image).digest('hex')}`
const bodyOf = (url: string) => ({
  model: 'm',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ],
})

describe('a request with images', () => {
  it('is recorded as it was sent while it is small', () => {
    const text = JSON.stringify(bodyOf(`data:image/png;base64,${image.subarray(0, 100_000).toString('base64')}`))
    expect(boundedBody(text, 2 ** 25)).toBe(text)
  })

  it('keeps its words, and the digest of an image that is too large', () => {
    const kept = boundedBody(JSON.stringify(bodyOf(`data:image/png;base64,${image.toString('base64')}`)), 2 ** 25) ?? ''
    const body: Json = JSON.parse(kept)
    expect(body).toEqual(bodyOf(`data:image/png;${digest}`))
    expect(dialectOf('openai.chat')?.readRequest(body).messages[0]?.parts).toEqual([
      { type: 'text', content: 'What is this?' },
      { type: 'uri', modality: 'image', uri: `data:image/png;${digest}` },
    ])
    expect(boundedBody(JSON.stringify({ data: image.toString('base64') }), 2 ** 25)).toBe(JSON.stringify({ data: digest }))
  })

  it('is left out where its words alone are too large', () => {
    expect(boundedBody(JSON.stringify({ text: 'many words '.repeat(200_000) }), 2 ** 20)).toBeUndefined()
  })
})
