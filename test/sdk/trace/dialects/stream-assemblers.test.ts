import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assembleAnthropicMessages } from '../../../../sdk/trace/dialects/anthropic-messages-stream.ts'
import { assembleOpenAiChat } from '../../../../sdk/trace/dialects/openai-chat-stream.ts'
import { assembleOpenAiResponses } from '../../../../sdk/trace/dialects/openai-responses-stream.ts'
import { readServerSentEvents } from '../../../../sdk/trace/dialects/server-sent-events.ts'
import { streamCases } from '../../../support/cases.ts'

/** Those whose streams were read to their end: what else may happen to one is not an assembler's to know. */
const cases = streamCases().filter(
  ({ response, consume }) => response.chunks !== undefined && (response.end ?? 'close') === 'close' && /^(all|tee)$/.test(consume),
)
const assemblers: Record<string, typeof assembleOpenAiChat> = {
  'openai.chat': assembleOpenAiChat,
  'openai.responses': assembleOpenAiResponses,
  'anthropic.messages': assembleAnthropicMessages,
}

describe('stream assemblers', () => {
  it.each(cases)('$id: $why', ({ api, response, expect: expected }) => {
    const assembler = assemblers[api]?.()
    const bytes = Buffer.concat(
      (response.chunks ?? []).map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk.base64, 'base64'))),
    )
    readServerSentEvents(bytes.toString('utf8'), (data, name) => assembler?.add(data, name))
    expect(assembler?.body()).toEqual(expected.responseBody)
    expect(assembler?.error?.type).toEqual(expected.errorType)
    if (expected.status !== 'error') expect(assembler?.complete).toBe(expected.status === 'ok')
  })

  it.each(Object.keys(assemblers))('%s: never throws, whatever comes', (api) => {
    for (const hostile of [
      '',
      'null',
      '7',
      '[]',
      '{',
      '{"choices":7}',
      '{"choices":[null]}',
      '{"choices":[{"delta":7}]}',
      '{"type":7}',
      '{"delta":null,"type":"content_block_delta"}',
      '{"type":"response.output_text.delta","output_index":1e9}',
    ]) {
      const assembler = assemblers[api]?.()
      assembler?.add(hostile)
      assembler?.body()
      expect(assembler?.complete).toBe(false)
    }
  })

  it('openai.chat: recognising an event by its shape gives what parsing it gives, for any text and any padding', () => {
    const piece = fc.record({
      kind: fc.constantFrom('content', 'reasoning_content', 'refusal', 'arguments', 'role', 'finish', 'model'),
      text: fc.string({ unit: 'binary' }),
      padding: fc.string({ unit: fc.constantFrom('a', 'b', '0'), maxLength: 8 }),
      index: fc.nat(1),
    })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, padded) => {
        const whole = assembleOpenAiChat()
        const apart = assembleOpenAiChat()
        for (const [position, { kind, text, padding, index }] of pieces.entries()) {
          const delta =
            kind === 'arguments'
              ? { tool_calls: [{ index, function: { arguments: text } }] }
              : kind === 'role'
                ? { role: 'assistant', content: '' }
                : { [kind]: text }
          const chunk = {
            id: 'c',
            model: kind === 'model' ? text : 'm',
            choices: [
              {
                index,
                delta: kind === 'finish' || kind === 'model' ? {} : delta,
                logprobs: null,
                finish_reason: kind === 'finish' ? text : null,
              },
            ],
            ...(padded ? { usage: null, obfuscation: padding } : {}),
          }
          whole.add(JSON.stringify(chunk))
          // White space that no template was learnt with: always parsed.
          apart.add(' '.repeat(position + 1) + JSON.stringify(chunk))
        }
        expect(whole.body()).toEqual(apart.body())
        expect(whole.complete).toBe(apart.complete)
      }),
      { numRuns: 300 },
    )
  })
})
