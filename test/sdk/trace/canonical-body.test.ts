import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalRequest, canonicalResponse } from '../../../sdk/trace/canonical-body.ts'
import { messageSchema } from '../../../sdk/trace/episode-schema.ts'
import { partOfFields } from '../../../sdk/trace/part.ts'

const anyFields = fc.dictionary(
  fc.constantFrom('type', 'content', 'id', 'name', 'arguments', 'response', 'provider', 'invalid', 'raw', 'x'),
  fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
)
const anyType = fc.constantFrom('text', 'reasoning', 'refusal', 'tool_call', 'tool_call_response', 'blob', 'hologram')

describe('a part of a sender’s fields', () => {
  it('is one that an episode may hold, whatever was sent', () => {
    fc.assert(
      fc.property(anyFields, fc.option(anyType, { nil: undefined }), (fields, type) => {
        const part = partOfFields(type === undefined ? fields : { ...fields, type })
        expect(messageSchema.safeParse({ role: 'user', parts: [part] }).error).toBeUndefined()
      }),
    )
  })

  it('passes types and fields that are not known here', () => {
    expect(partOfFields({ type: 'hologram', depth: 3 })).toEqual({ type: 'hologram', depth: 3 })
    expect(partOfFields({ type: 'text', content: 'a', annotations: [1] })).toEqual({ type: 'text', content: 'a', annotations: [1] })
    expect(partOfFields({ content: 'a' })).toEqual({ type: 'unknown', content: 'a' })
    expect(partOfFields({ type: 'tool_call', id: 7, name: 'f', arguments: [] })).toEqual({
      type: 'tool_call',
      id: '7',
      name: 'f',
      arguments: [],
    })
  })
})

describe('a canonical body that somebody sent', () => {
  it('reads as what an episode may hold, whatever it says', () => {
    expect(
      canonicalRequest({ messages: [1, { parts: [{ type: 'text' }, 'x'] }], tools: [{ name: 'f', description: 1 }, {}], parameters: [] }),
    ).toEqual({
      model: '',
      messages: [{ role: 'unknown', parts: [{ type: 'text', content: '' }] }],
      tools: [{ name: 'f' }],
      parameters: {},
    })
    expect(
      canonicalResponse({
        response: { outputs: 'x', finishReasons: [1, 'stop'], usage: { inputTokens: 'many', outputTokens: 2 } },
        tokens: 3,
      }),
    ).toEqual({
      response: { outputs: [], finishReasons: ['error', 'stop'], usage: { outputTokens: 2 } },
    })
  })
})
