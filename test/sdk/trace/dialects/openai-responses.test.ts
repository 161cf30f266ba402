import { type CanonicalRequest, dialectForPath, type Message, type Part } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openaiResponses } from '../../../../sdk/trace/dialects/openai-responses.ts'
import { anyJson } from '../episode-fixtures.ts'
import { anyArguments, anyImage, anyUsage, plainCall, plainResult, plainText, throughJson, word } from './canonical-arbitraries.ts'

const name = 'openai.responses'
/** What one item of the model gives: parts with its id, or without one. */
const anyItem: fc.Arbitrary<Part[]> = fc.uuid().chain((id) =>
  fc.oneof(
    fc
      .array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 2 })
      .map((texts) => texts.map((content): Part => ({ type: 'text', content, provider: { name, id } }))),
    fc.constant<Part[]>([{ type: 'refusal', content: 'no', provider: { name, id } }]),
    fc.array(fc.string(), { minLength: 1, maxLength: 2 }).map((texts) =>
      texts.map(
        (content, index): Part => ({
          type: 'reasoning',
          content,
          provider: { name, id, ...(index === 0 ? { encrypted_content: 'gAAA' } : {}) },
        }),
      ),
    ),
    fc.constant<Part[]>([{ type: 'reasoning', content: '', provider: { name, id, in: 'nothing' } }]),
    fc
      .record({
        type: fc.constant('tool_call' as const),
        id: word,
        name: word,
        arguments: anyArguments,
        provider: fc.constant({ name, id }),
      })
      .map((part): Part[] => [part]),
    fc
      .record({
        type: fc.constant('tool_call' as const),
        id: word,
        name: word,
        arguments: fc.string(),
        provider: fc.constant({ name, id, type: 'custom_tool_call' }),
      })
      .map((part): Part[] => [part]),
    fc.constant<Part[]>([{ type: 'web_search_call', id, status: 'completed', action: { query: 'q' } } as never]),
  ),
)
const plainOutput: fc.Arbitrary<Part[]> = fc.array(fc.oneof(plainText, plainCall), { maxLength: 3 })
const anyOutput: fc.Arbitrary<Message> = fc
  .oneof(
    fc.array(anyItem, { maxLength: 3 }).map((items) => items.flat()),
    plainOutput,
  )
  .map((parts) => ({ role: 'assistant', parts }))
const anyInput: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'developer'), parts: fc.array(fc.oneof(plainText, anyImage), { maxLength: 3 }) }),
  fc.record({ role: fc.constant('tool'), parts: fc.tuple(plainResult) }),
)
/** Two messages of the model in a row are one on this wire, and one of nothing is none. */
const anyConversation = fc
  .array(
    fc.tuple(
      anyInput,
      fc.option(
        anyOutput.filter(({ parts }) => parts.length > 0),
        { nil: undefined },
      ),
    ),
    { maxLength: 4 },
  )
  .map((turns) => turns.flatMap(([input, output]) => (output === undefined ? [input] : [input, output])))
const system = fc
  .option(word, { nil: undefined })
  .map((content): Message[] => (content === undefined ? [] : [{ role: 'system', parts: [{ type: 'text', content }] }]))
const anyRequest: fc.Arbitrary<CanonicalRequest> = fc.record({
  model: word,
  messages: fc.tuple(system, anyConversation).map(([first, rest]) => [...first, ...rest]),
  tools: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('function'), name: word, description: word, parameters: anyJson, strict: fc.boolean() }),
      fc.record({ type: fc.constant('web_search'), name: fc.constant('web_search'), filters: anyJson }),
    ),
    { maxLength: 2 },
  ),
  parameters: fc.dictionary(fc.constantFrom('temperature', 'max_output_tokens', 'stream', 'reasoning'), anyJson),
})

describe('openai.responses', () => {
  test('reads back every request that it writes', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(openaiResponses.readRequest(throughJson(openaiResponses.writeRequest(request)))).toEqual(request)
      }),
      { numRuns: 500 },
    )
  })

  const anyResponse = fc
    .record({
      model: word,
      id: word,
      outputs: fc.tuple(anyOutput),
      usage: anyUsage,
      reason: fc.constantFrom('length', 'content_filter', 'error', 'done'),
    })
    .map(({ reason, ...response }) => {
      const called = response.outputs[0].parts.some(({ type }) => type === 'tool_call')
      return { ...response, finishReasons: [reason === 'done' ? (called ? 'tool_call' : 'stop') : reason] }
    })

  test('reads back every response that it writes', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        expect(openaiResponses.readResponse(throughJson(openaiResponses.writeResponse(response)))).toEqual(response)
      }),
      { numRuns: 500 },
    )
  })

  test('sends a response as a stream that assembles to the same body', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const body = throughJson(openaiResponses.writeResponse(response))
        const assembler = openaiResponses.assembler()
        for (const { data, event } of openaiResponses.writeStream(body)) assembler.add(data, event)
        expect([assembler.complete, assembler.body()]).toEqual([true, body])
      }),
      { numRuns: 200 },
    )
  })

  test('reads an id that is an object whose toString is none', () => {
    const item = { type: 'function_call', call_id: { toString: false }, name: 'f', arguments: '{}' }
    expect(openaiResponses.readRequest({ input: [item] }).messages[0]?.parts[0]).toMatchObject({ id: '{"toString":false}' })
  })

  test('never throws on a body, whatever it is', () => {
    fc.assert(
      fc.property(
        anyJson,
        fc.constantFrom('message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'x_output'),
        (body, type) => {
          openaiResponses.readRequest(body)
          openaiResponses.readRequest({ input: body, tools: body, instructions: body })
          openaiResponses.readRequest({ input: [body, { type, content: body, summary: body, arguments: body, output: body, id: body }] })
          openaiResponses.readResponse({
            output: [body, { type, content: body, summary: body, arguments: body }],
            usage: body,
            status: body,
          })
          openaiResponses.writeStream(body)
          openaiResponses.writeStream({ output: [body, { type, content: body, summary: body, arguments: body }] })
        },
      ),
      { numRuns: 300 },
    )
  })

  test('gives every item of a response an id, and does not take those that it made up for the API’s own', () => {
    const written = openaiResponses.writeResponse({
      outputs: [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', content: 'hm' },
            { type: 'text', content: 'yes' },
            { type: 'tool_call', id: 'c', name: 'f', arguments: {} },
          ],
        },
      ],
      finishReasons: ['tool_call'],
      usage: {},
    })
    expect(written['output']).toMatchObject([
      { id: 'rs_hg0', type: 'reasoning' },
      { id: 'msg_hg1', type: 'message' },
      { id: 'fc_hg2', call_id: 'c' },
    ])
    expect(openaiResponses.readRequest({ input: written['output'] ?? [] }).messages[0]?.parts.map(({ provider }) => provider)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('sends no reasoning that the API has not made itself', () => {
    const foreign: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'hm', provider: { name: 'anthropic.messages', signature: 's' } },
        { type: 'text', content: 'yes' },
      ],
    }
    expect(openaiResponses.writeRequest({ model: 'm', messages: [foreign], tools: [], parameters: {} })['input']).toEqual([
      { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'yes', annotations: [] }] },
    ])
  })

  test.each([
    [
      'reasoning that is not stored, item by item with all of its summary',
      [
        { type: 'reasoning', summary: [{ text: 'a' }, { text: 'b' }], encrypted_content: 'gA' },
        { type: 'reasoning', summary: [], encrypted_content: 'gB' },
        { type: 'reasoning', summary: [{ text: 'c' }], encrypted_content: 'gC' },
      ],
    ],
    [
      'messages of different phases',
      [
        { type: 'message', role: 'assistant', phase: 'commentary', content: 'Let me look.' },
        { type: 'message', role: 'assistant', phase: 'final_answer', content: 'It is open.' },
      ],
    ],
  ])('keeps apart what has no ids: %s', (_, input) => {
    const request = openaiResponses.readRequest({ model: 'm', input })
    const written = openaiResponses.writeRequest(request)['input']
    expect(written).toHaveLength(input.length)
    expect(openaiResponses.readRequest({ model: 'm', input: written ?? [] })).toEqual(request)
  })

  test('keeps the results that come in an answer', () => {
    const output = [
      { type: 'function_call', id: 'fc', call_id: '1', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', id: 'fo', call_id: '1', output: 'done' },
    ]
    const response = openaiResponses.readResponse({ object: 'response', status: 'completed', output })
    expect(response?.finishReasons).toEqual(['stop'])
    expect(response && openaiResponses.writeResponse(response)['output']).toEqual(output)
  })

  test.each(['function', 'custom', 'web_search'])('gives a tool its name, also that of its kind: %s', (type) => {
    const tool = type === 'web_search' ? { type } : { type, name: type }
    expect(openaiResponses.writeRequest(openaiResponses.readRequest({ model: 'm', input: [], tools: [tool] }))['tools']).toEqual([tool])
  })

  test.each<[string, object[], string]>([
    ['asks for a command', [{ type: 'shell_call', call_id: '1' }], 'tool_call'],
    ['asks for a change of files', [{ type: 'apply_patch_call', call_id: '1' }], 'tool_call'],
    ['asks for leave', [{ type: 'mcp_approval_request', id: '1' }], 'tool_call'],
    [
      'ran a command at the provider',
      [
        { type: 'shell_call', call_id: '1' },
        { type: 'shell_call_output', call_id: '1' },
      ],
      'stop',
    ],
    ['searched', [{ type: 'web_search_call', id: '1' }], 'stop'],
  ])('tells why a response stopped that %s', (_, output, reason) => {
    expect(openaiResponses.readResponse(throughJson({ status: 'completed', output }))?.finishReasons).toEqual([reason])
  })

  test('is found by its path', () => {
    expect(dialectForPath('/v1/responses')?.api).toBe('openai.responses')
    expect(dialectForPath('/v1/responses/resp_1/input_items')).toBeUndefined()
  })
})
