import fs from 'node:fs'
import { dialectOf, type Json, type Message, normaliseSpan, type SpanRecord } from '@homeground/sdk/trace'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { semconv } from '../../../sdk/trace/foreign/semconv.ts'
import { messageAttributes } from '../../../sdk/trace/message-attributes.ts'
import { streamCases } from '../../support/cases.ts'
import { anyImage, anyUsage, optional, plainCall, plainResult, plainText, throughJson, word } from './dialects/canonical-arbitraries.ts'

const schemas = new URL('./genai-v1.41.1/', import.meta.url)
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
const validators = new Map(
  [
    ['gen_ai.input.messages', 'gen-ai-input-messages.json'],
    ['gen_ai.output.messages', 'gen-ai-output-messages.json'],
    ['gen_ai.system_instructions', 'gen-ai-system-instructions.json'],
    ['gen_ai.tool.definitions', 'gen-ai-tool-definitions.json'],
  ].map(([name = '', file = '']) => [name, ajv.compile(JSON.parse(fs.readFileSync(new URL(file, schemas), 'utf8')))]),
)

/** What the schemas say against the attributes; an attribute that the conventions do not know is a fault too. */
function faults(attributes: ReturnType<typeof messageAttributes>): unknown[] {
  return Object.entries(attributes).flatMap(([name, text]): unknown[] => {
    const validate = validators.get(name)
    if (validate === undefined) return [`${name} is no message attribute`]
    return validate(JSON.parse(String(text))) ? [] : [{ name, text, errors: validate.errors }]
  })
}

const read = (attributes: ReturnType<typeof messageAttributes>) =>
  Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, JSON.parse(String(text))]))

const apis = ['openai.chat', 'openai.responses', 'anthropic.messages'] as const

describe('the conventions’ message attributes', () => {
  it('say a chat call as the conventions do: instructions in the history, tool calls parsed', () => {
    const request = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where is order 7?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"order":7}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'on its way' },
      ],
      tools: [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }],
    }
    const response = { id: 'r', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'On its way.' } }] }
    const attributes = messageAttributes('openai.chat', JSON.stringify(request), JSON.stringify(response))
    expect(read(attributes)).toEqual({
      'gen_ai.input.messages': [
        { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
        { role: 'user', parts: [{ type: 'text', content: 'Where is order 7?' }] },
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: { order: 7 } }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'on its way' }] },
      ],
      'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }], finish_reason: 'stop' }],
      'gen_ai.tool.definitions': [{ type: 'function', name: 'find', parameters: { type: 'object' } }],
    })
    expect(faults(attributes)).toEqual([])
  })

  it('keep instructions apart that the dialect keeps apart, and leave signatures out', () => {
    const request = { model: 'm', system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] }
    const response = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' },
        { type: 'text', text: 'Hello.' },
      ],
      stop_reason: 'end_turn',
    }
    expect(read(messageAttributes('anthropic.messages', JSON.stringify(request), JSON.stringify(response)))).toEqual({
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
      'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }],
      'gen_ai.output.messages': [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', content: 'Hm.' },
            { type: 'text', content: 'Hello.' },
          ],
          finish_reason: 'stop',
        },
      ],
    })
  })

  it('are none for bodies that are no JSON, an error’s body, and dialects that nobody knows', () => {
    expect(messageAttributes('openai.chat', '--form', '<html>')).toEqual({})
    expect(messageAttributes('openai.chat', undefined, '{"error":{"message":"no"}}')).toEqual({})
    expect(messageAttributes('openai.embeddings', '{"input":"x"}', '{}')).toEqual({})
  })

  it('are valid for what providers really sent', () => {
    for (const { id, api, request, expect: expected } of streamCases()) {
      const attributes = messageAttributes(api, JSON.stringify(request), JSON.stringify(expected.responseBody))
      expect([id, faults(attributes)]).toEqual([id, []])
    }
  })

  it.each(apis)('are valid for everything that %s can say, and a reader of the conventions reads the same messages', (api) => {
    // Null says nothing in the conventions, and text would be parsed: only what has members reads back.
    const anyCall = fc.tuple(plainCall, fc.dictionary(word, fc.string())).map(([call, given]) => ({ ...call, arguments: given }))
    const anyMessage: fc.Arbitrary<Message> = fc.oneof(
      fc.record({ role: fc.constant('user'), parts: fc.array(fc.oneof(plainText, anyImage), { minLength: 1, maxLength: 3 }) }),
      fc.record({ role: fc.constant('assistant'), parts: fc.array(fc.oneof(plainText, anyCall), { minLength: 1, maxLength: 3 }) }),
      fc.record({ role: fc.constant('tool'), parts: fc.array(plainResult, { minLength: 1, maxLength: 1 }) }),
    )
    const anySystem: fc.Arbitrary<Message> = fc.record({ role: fc.constant('system'), parts: fc.tuple(plainText) })
    fc.assert(
      fc.property(
        optional(anySystem),
        fc.array(anyMessage, { maxLength: 4 }),
        fc.array(plainText, { minLength: 1, maxLength: 2 }),
        word,
        anyUsage,
        (system, rest, parts, tool, usage) => {
          const dialect = dialectOf(api)
          if (dialect === undefined) throw new Error(`no dialect ${api}`)
          const tools = [{ type: 'function', name: tool, parameters: { type: 'object' } }]
          const request = throughJson(dialect.writeRequest({ model: 'm', messages: [...system, ...rest], tools, parameters: {} }))
          const response = throughJson(
            dialect.writeResponse({ id: 'r', outputs: [{ role: 'assistant', parts }], finishReasons: ['stop'], usage }),
          )
          const attributes = messageAttributes(api, JSON.stringify(request), JSON.stringify(response))
          expect(faults(attributes)).toEqual([])
          const body: { [name: string]: Json } = Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, String(text)]))
          expect(withoutExtras(semconv.readRequest(body).messages)).toEqual(withoutExtras(dialect.readRequest(request).messages))
          expect(withoutExtras(semconv.readOutputs(body))).toEqual(withoutExtras(dialect.readResponse(response)?.outputs ?? []))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('are valid for bodies that nobody would send', () => {
    fc.assert(
      fc.property(fc.constantFrom(...apis), fc.jsonValue(), (api, value) => {
        const body = JSON.stringify({ messages: [value, { role: 'user', content: value }], input: [value], system: value, tools: [value] })
        const answer = JSON.stringify({ choices: [value, { message: value }], output: [value], content: [value], object: 'response' })
        expect(faults(messageAttributes(api, body, answer))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('beside our own bodies are not stored a second time', () => {
    const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
    const span: SpanRecord = {
      traceId: '1'.repeat(32),
      spanId: '1'.repeat(16),
      name: 'chat m',
      kind: 3,
      startTimeUnixNano: 1n,
      endTimeUnixNano: 2n,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'homeground.api': 'openai.chat',
        'homeground.request.body': body,
        ...messageAttributes('openai.chat', body, undefined),
      },
      status: { code: 0 },
      events: [],
      resource: {},
      scope: { name: '@homeground/sdk' },
    }
    const { requestBody, attributes } = normaliseSpan(span)
    expect([requestBody, attributes]).toEqual([body, {}])
  })
})

function withoutExtras(messages: readonly Message[]): unknown {
  return JSON.parse(JSON.stringify(messages, (key, value) => (key === 'provider' || key === 'raw' ? undefined : value)))
}
