import { type CanonicalRequest, dialectForPath, type Json, type Message, type Part } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../../../sdk/trace/dialects/anthropic-messages.ts'
import { anyJson } from '../episode-fixtures.ts'
import { anyArguments, anyImage, anyUsage, plainResult, plainText, throughJson, word } from './canonical-arbitraries.ts'

const name = 'anthropic.messages'
const cached = { name, cache_control: { type: 'ephemeral' } }
const cachedText: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('text' as const),
  content: fc.string(),
  provider: fc.constant(cached),
})
/** Input is a value on this wire; text means that the model wrote no JSON. */
const anyCall: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    type: fc.constant('tool_call' as const),
    id: word,
    name: word,
    arguments: anyArguments.filter((value) => value !== null && typeof value !== 'string'),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: word,
    name: word,
    arguments: word.map((text) => `{,${text}`),
    invalid: fc.constant(true),
  }),
)
const signed: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('reasoning' as const), content: fc.string(), provider: fc.constant({ name, signature: 'EqQBCkYIBx+/=' }) }),
  fc.constant<Part>({ type: 'reasoning', content: '', provider: { name, type: 'redacted_thinking', data: 'opaque' } }),
)
const own = fc.constant({ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } } as never)
const anySaid: fc.Arbitrary<Message> = fc
  .array(fc.oneof(plainText, cachedText, anyCall, signed, own), { maxLength: 4 })
  .map((parts) => ({ role: 'assistant', parts }))
const failedResult: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('tool_call_response' as const),
  id: word,
  response: fc.constant<Json>([{ type: 'text', text: 'no' }]),
  provider: fc.constant({ name, is_error: true }),
})
const anyInput: fc.Arbitrary<Message> = fc.oneof(
  fc.array(fc.oneof(plainText, cachedText, anyImage), { maxLength: 3 }).map((parts): Message => ({ role: 'user', parts })),
  fc.array(fc.oneof(plainResult, failedResult), { minLength: 1, maxLength: 3 }).map((parts): Message => ({ role: 'tool', parts })),
  fc.tuple(plainResult, plainText).map((parts): Message => ({ role: 'user', parts })),
)
const system = fc
  .array(fc.oneof(plainText, cachedText), { maxLength: 2 })
  .map((parts): Message[] => (parts.length === 0 ? [] : [{ role: 'system', parts }]))
const anyRequest: fc.Arbitrary<CanonicalRequest> = fc.record({
  model: word,
  messages: fc.tuple(system, fc.array(fc.oneof(anySaid, anyInput), { maxLength: 5 })).map(([first, rest]) => [...first, ...rest]),
  tools: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('function'), name: word, description: word, parameters: anyJson }),
      fc.record({ type: fc.constant('web_search_20250305'), name: fc.constant('web_search'), max_uses: fc.nat() }),
    ),
    { maxLength: 2 },
  ),
  parameters: fc.dictionary(fc.constantFrom('temperature', 'max_tokens', 'stream', 'thinking', 'stop_sequences'), anyJson),
})
const anyResponse = fc
  .record({
    model: word,
    id: word,
    outputs: fc.tuple(anySaid),
    usage: anyUsage,
    reason: fc.constantFrom('stop', 'length', 'tool_call', 'error', 'refusal', 'pause_turn'),
    stopped: fc.constantFrom(undefined, '\n\n'),
  })
  .map(({ reason, stopped, outputs, ...response }) => {
    const [output] = outputs
    return {
      ...response,
      outputs: [stopped === undefined ? output : { ...output, provider: { name, stop_sequence: stopped } }],
      finishReasons: [stopped === undefined ? reason : 'stop'],
    }
  })

describe('anthropic.messages', () => {
  test('reads back every request that it writes', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(anthropicMessages.readRequest(throughJson(anthropicMessages.writeRequest(request)))).toEqual(request)
      }),
      { numRuns: 500 },
    )
  })

  test('reads back every response that it writes', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        expect(anthropicMessages.readResponse(throughJson(anthropicMessages.writeResponse(response)))).toEqual(response)
      }),
      { numRuns: 500 },
    )
  })

  test('sends a response as a stream that assembles to the same body', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const body = throughJson(anthropicMessages.writeResponse(response))
        const assembler = anthropicMessages.assembler()
        for (const { data, event } of anthropicMessages.writeStream(body)) assembler.add(data, event)
        const streamed = assembler.body()
        expect([assembler.complete, streamed && anthropicMessages.readResponse(streamed)]).toEqual([
          true,
          anthropicMessages.readResponse(body),
        ])
      }),
      { numRuns: 200 },
    )
  })

  test('never throws on a body, whatever it is', () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom('text', 'thinking', 'tool_use', 'tool_result', 'image', 'document'), (body, type) => {
        const block = { type, text: body, thinking: body, input: body, content: body, source: body, id: body, tool_use_id: body }
        anthropicMessages.readRequest(body)
        anthropicMessages.readRequest({ messages: [body, { role: 'user', content: [body, block] }], system: body, tools: [body] })
        anthropicMessages.readResponse({ content: [body, block], usage: body, stop_reason: body })
        anthropicMessages.writeStream(body)
        anthropicMessages.writeStream({ content: [body, block], usage: body })
      }),
      { numRuns: 300 },
    )
  })

  test('sends no thinking that the API has not signed itself, but answers with what there is', () => {
    const thought: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'hm', provider: { name: 'openai.responses', id: 'rs_1' } },
        { type: 'text', content: 'yes' },
      ],
    }
    expect(anthropicMessages.writeRequest({ model: 'm', messages: [thought], tools: [], parameters: {} })['messages']).toEqual([
      { role: 'assistant', content: 'yes' },
    ])
    const written = anthropicMessages.writeResponse({ outputs: [thought], finishReasons: ['stop'], usage: {} })
    expect(written['content']).toEqual([
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'yes' },
    ])
  })

  test('keeps instructions in mid-conversation, and a set of tools that has no name', () => {
    const sent = {
      model: 'm',
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'f' } }], display: 'never' },
        { role: 'system', content: 'Be longer.' },
      ],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'pool' }],
    }
    const request = anthropicMessages.readRequest(sent)
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user', 'system', 'system'])
    expect(anthropicMessages.writeRequest(request)).toEqual(sent)
    const { system: _, ...withoutSystem } = { ...sent, messages: sent.messages.slice(1) }
    expect(anthropicMessages.writeRequest(anthropicMessages.readRequest(withoutSystem))).toEqual(withoutSystem)
  })

  test('writes a list that a tool gave as JSON, also where its things have types, and content as content', () => {
    const results = (response: Json) =>
      anthropicMessages.writeRequest({
        model: 'm',
        messages: [{ role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response }] }],
        tools: [],
        parameters: {},
      })['messages']
    const sent = (content: Json) => [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content }] }]
    expect(results([{ type: 'order', id: 7 }])).toEqual(sent('[{"type":"order","id":7}]'))
    expect(results([{ type: 'text', text: 'a' }])).toEqual(sent([{ type: 'text', text: 'a' }]))
  })

  test('says later instructions of another wire as the user', () => {
    const messages: Message[] = ['user', 'developer', 'system'].map((role) => ({ role, parts: [{ type: 'text', content: role }] }))
    const written = anthropicMessages.writeRequest({ model: 'm', messages, tools: [], parameters: {} })['messages'] as { role: string }[]
    expect(written.map(({ role }) => role)).toEqual(['user', 'user', 'user'])
  })

  test('is found by its paths, on Vertex and Bedrock too, and not by those of threads', () => {
    for (const path of [
      '/v1/messages',
      '/v1/messages?beta=true',
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude:streamRawPredict',
      '/model/us.anthropic.claude-sonnet-4/invoke',
      '/model/arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fa1/invoke',
    ])
      expect(dialectForPath(path)?.api).toBe(name)
    const countTokens = '/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict'
    for (const path of [
      '/v1/threads/t/messages',
      '/v1/messages/batches',
      '/v1/messages/count_tokens',
      '/model/meta.llama3/invoke',
      countTokens,
    ])
      expect(dialectForPath(path)).toBeUndefined()
  })
})
