import { type CanonicalRequest, dialectForPath, dialectOf, type Json, type Message, type Part } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openaiChat } from '../../../../sdk/trace/dialects/openai-chat.ts'
import { streamCases } from '../../../support/cases.ts'
import { anyJson } from '../episode-fixtures.ts'

const provider = { name: 'openai.chat', cache_control: { type: 'ephemeral' } }
const text = fc.string({ minLength: 1 })
const anyText: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), content: fc.string() }),
  fc.record({ type: fc.constant('text' as const), content: fc.string(), provider: fc.constant(provider) }),
)
const anyMedia = fc.oneof(
  fc.record({ type: fc.constant('uri' as const), modality: fc.constant('image'), uri: fc.webUrl() }),
  fc.record({
    type: fc.constant('blob' as const),
    modality: fc.constant('image'),
    mime_type: fc.constant('image/png'),
    content: fc.base64String(),
  }),
  fc.record({
    type: fc.constant('blob' as const),
    modality: fc.constant('audio'),
    mime_type: fc.constant('audio/wav'),
    content: fc.base64String(),
  }),
  fc.record({ type: fc.constant('file' as const), modality: fc.constant('file'), file_id: text }),
  fc.record({ type: fc.constant('hologram' as never), depth: fc.integer() }),
)
/** A string would be JSON text once more: that is what the wire says, and what reads back. */
const anyArguments = anyJson.filter((value) => value !== '')
const anyCall: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant('tool_call' as const), id: text, name: text, arguments: anyArguments }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: text,
    name: text,
    arguments: text.map((t) => `{,${t}`),
    invalid: fc.constant(true),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: text,
    name: text,
    arguments: fc.string(),
    provider: fc.constant({ name: 'openai.chat', type: 'custom' }),
  }),
)
const optional = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 1 })
const anyAssistant: fc.Arbitrary<Message> = fc
  .tuple(
    optional(fc.record({ type: fc.constant('reasoning' as const), content: text })),
    fc.array(anyText, { maxLength: 2 }),
    optional(fc.record({ type: fc.constant('refusal' as const), content: text })),
    fc.array(anyCall, { maxLength: 3 }),
  )
  .map((groups) => ({ role: 'assistant', parts: groups.flat() }))
const anyOther: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer'), parts: fc.array(anyText, { maxLength: 2 }) }),
  fc.record({ role: fc.constant('user'), name: text, parts: fc.array(fc.oneof(anyText, anyMedia), { maxLength: 3 }) }),
  fc.record({
    role: fc.constant('tool'),
    parts: fc.tuple(fc.record({ type: fc.constant('tool_call_response' as const), id: text, response: fc.string() })),
  }),
)
const anyRequest: fc.Arbitrary<CanonicalRequest> = fc.record({
  model: text,
  messages: fc.array(fc.oneof(anyAssistant, anyOther), { maxLength: 5 }),
  tools: fc.array(
    fc.oneof(
      fc.record({ type: fc.constantFrom('function', 'custom'), name: text, description: text, parameters: anyJson }),
      fc.record({ type: fc.constant('web_search'), name: fc.constant('web_search'), filters: anyJson }),
    ),
    { maxLength: 3 },
  ),
  parameters: fc.dictionary(fc.constantFrom('temperature', 'max_tokens', 'stream', 'tool_choice'), anyJson),
})

const throughJson = (value: unknown): Json => JSON.parse(JSON.stringify(value))

describe('openai.chat', () => {
  test('reads back every request that it writes', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(openaiChat.readRequest(throughJson(openaiChat.writeRequest(request)))).toEqual(request)
      }),
      { numRuns: 500 },
    )
  })

  test('reads back every response that it writes', () => {
    const anyUsage = fc.record(
      { inputTokens: fc.nat(), outputTokens: fc.nat(), cacheReadTokens: fc.nat(), cacheWriteTokens: fc.nat(), reasoningTokens: fc.nat() },
      { requiredKeys: [] },
    )
    const anyResponse = fc
      .record({ model: text, id: text, outputs: fc.array(anyAssistant, { maxLength: 3 }), usage: anyUsage })
      .chain((response) =>
        fc
          .array(fc.constantFrom('stop', 'length', 'tool_call', 'content_filter', 'error', 'invented'), {
            minLength: response.outputs.length,
            maxLength: response.outputs.length,
          })
          .map((finishReasons) => ({ ...response, finishReasons })),
      )
    fc.assert(
      fc.property(anyResponse, (response) => {
        expect(openaiChat.readResponse(throughJson(openaiChat.writeResponse(response)))).toEqual(response)
      }),
      { numRuns: 500 },
    )
  })

  test('sends a response as a stream that assembles to the same body', () => {
    const anyBody = fc.record({ model: text, id: text, outputs: fc.array(anyAssistant, { minLength: 1, maxLength: 3 }) }).map((response) =>
      throughJson(
        openaiChat.writeResponse({
          ...response,
          finishReasons: response.outputs.map(() => 'tool_call'),
          usage: { inputTokens: 3, outputTokens: 2 },
        }),
      ),
    )
    fc.assert(
      fc.property(anyBody, (body) => {
        const assembler = openaiChat.assembler()
        for (const { data, event } of openaiChat.writeStream(body)) assembler.add(data, event)
        const streamed = assembler.body()
        expect({ complete: assembler.complete, response: streamed && openaiChat.readResponse(streamed) }).toEqual({
          complete: true,
          response: openaiChat.readResponse(body),
        })
      }),
      { numRuns: 300 },
    )
  })

  test('never throws on a body, whatever it is', () => {
    fc.assert(
      fc.property(anyJson, (body) => {
        openaiChat.readRequest({ messages: body, tools: body })
        openaiChat.readRequest(body)
        openaiChat.readResponse({ choices: [body], usage: body })
        openaiChat.readResponse({ choices: [{ message: { content: body, tool_calls: [body], function_call: body } }] })
        openaiChat.writeStream({ choices: [body] })
        openaiChat.writeStream(body)
      }),
      { numRuns: 300 },
    )
  })

  test('keeps what it has no place for with the part or message, and writes it back', () => {
    const sent = {
      role: 'assistant',
      content: null,
      audio: { id: 'audio_1' },
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          function: { name: 'f', arguments: '{"id":90071992547409931}' },
          extra_content: { google: { thought_signature: 'x' } },
        },
      ],
    }
    const request = openaiChat.readRequest({ model: 'm', messages: [sent] })
    expect(request.messages).toEqual([
      {
        role: 'assistant',
        parts: [
          {
            type: 'tool_call',
            id: 'c',
            name: 'f',
            arguments: { id: 90071992547409940 },
            raw: '{"id":90071992547409931}',
            provider: { name: 'openai.chat', extra_content: { google: { thought_signature: 'x' } } },
          },
        ],
        provider: { name: 'openai.chat', audio: { id: 'audio_1' } },
      },
    ])
    expect(openaiChat.writeRequest(request)['messages']).toEqual([sent])
  })

  test.each([
    [
      'beside an image, a sound and a file',
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' }, cache_control: { type: 'ephemeral' } },
          { type: 'input_audio', input_audio: { data: 'AQI=', format: 'wav' }, cache_control: { type: 'ephemeral' } },
          { type: 'file', file: { file_id: 'file_1' }, cache_control: { type: 'ephemeral' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AQI=' }, note: 1 },
        ],
      },
    ],
    [
      'inside of a call',
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: '1', type: 'function', function: { name: 'f', arguments: '{}', thought_signature: 'x' } },
          { id: '2', type: 'custom', custom: { name: 'g', input: 'text', namespace: 'n' } },
          { id: '3', type: 'builtin_function', function: { name: '$web_search', arguments: '{"q":1}' } },
        ],
      },
    ],
  ])('keeps what a provider says %s', (_, sent) => {
    const request = openaiChat.readRequest({ model: 'm', messages: [sent] })
    expect(openaiChat.writeRequest(request)['messages']).toEqual([sent])
  })

  test('writes a list that a tool gave as JSON, also where its things have types, and content as content', () => {
    const written = (response: Json) =>
      openaiChat.writeRequest({
        model: 'm',
        messages: [{ role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response }] }],
        tools: [],
        parameters: {},
      })['messages']
    expect(written([{ type: 'order', id: 7 }])).toEqual([{ role: 'tool', tool_call_id: '1', content: '[{"type":"order","id":7}]' }])
    expect(written([{ type: 'text', text: 'a' }])).toEqual([{ role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'a' }] }])
  })

  test('keeps refusals that stand before other content in their place', () => {
    const content = [
      { type: 'refusal', refusal: 'not that' },
      { type: 'text', text: 'but this' },
    ]
    const request = openaiChat.readRequest({ model: 'm', messages: [{ role: 'assistant', content }] })
    expect(openaiChat.writeRequest(request)['messages']).toEqual([{ role: 'assistant', content }])
  })

  test.each(['text', 'reasoning', 'refusal', 'tool_call', 'tool_call_response'])(
    'gives a vendor’s own part called %s its members',
    (type) => {
      const [part] = openaiChat.readRequest({ messages: [{ role: 'user', content: [{ type, odd: 1 }] }] }).messages[0]?.parts ?? []
      expect(part).toMatchObject(
        type === 'tool_call' ? { name: '', arguments: {} } : type === 'tool_call_response' ? { response: null } : { content: '' },
      )
    },
  )

  test("leaves out what another provider added to a part, and another provider's wire has no place for", () => {
    const message: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'hm', provider: { name: 'anthropic.messages', signature: 's' } },
        { type: 'text', content: 'yes', provider: { name: 'anthropic.messages', citations: [] } },
      ],
    }
    expect(openaiChat.writeRequest({ model: 'm', messages: [message], tools: [], parameters: {} })['messages']).toEqual([
      { role: 'assistant', content: 'yes', reasoning_content: 'hm' },
    ])
  })

  test('writes a message of several results as one message each, in their order, before what else it says', () => {
    const parts: Part[] = [
      { type: 'tool_call_response', id: '1', response: 'a' },
      { type: 'tool_call_response', id: '2', response: { b: 2 } },
      { type: 'text', content: 'Go on.' },
    ]
    expect(openaiChat.writeRequest({ model: 'm', messages: [{ role: 'user', parts }], tools: [], parameters: {} })['messages']).toEqual([
      { role: 'tool', tool_call_id: '1', content: 'a' },
      { role: 'tool', tool_call_id: '2', content: '{"b":2}' },
      { role: 'user', content: 'Go on.' },
    ])
  })

  test('knows the retired functions API and writes it back as it was', () => {
    const messages = [
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
    ]
    const request = openaiChat.readRequest({ model: 'm', messages, functions: [{ name: 'f' }] })
    expect(request.tools).toEqual([{ type: 'function', name: 'f' }])
    expect(openaiChat.writeRequest(request)['messages']).toEqual(messages)
  })

  test('gives token ids and log-probabilities where the server sent them, and only whole', () => {
    const logprobs = { content: [{ logprob: -0.5 }, { logprob: -0.25 }] }
    const body = { prompt_token_ids: [1, 2], choices: [{ token_ids: [3, 4], logprobs }] }
    expect(openaiChat.readTokens?.(body)).toEqual({ promptIds: [1, 2], completionIds: [3, 4], logprobs: [-0.5, -0.25] })
    expect(openaiChat.readTokens?.({ ...body, choices: [{ token_ids: [3, 4, 5], logprobs }] })).toEqual({
      promptIds: [1, 2],
      completionIds: [3, 4, 5],
    })
    expect(openaiChat.readTokens?.({ choices: [{ token_ids: [3] }] })).toBeUndefined()
  })

  test('is found by its name and by the paths of OpenAI, Azure and others', () => {
    expect(dialectOf('openai.chat')?.api).toBe('openai.chat')
    for (const path of ['/v1/chat/completions', '/openai/deployments/d/chat/completions?api-version=1', '/chat/completions/'])
      expect(dialectForPath(path)?.api).toBe('openai.chat')
    expect(dialectForPath('/v1/chat/completions/abc')).toBeUndefined()
    expect(dialectOf('nobody')).toBeUndefined()
  })
})

describe('the recorded body of a call', () => {
  test.each(streamCases().map((given) => [given.why, given] as const))('%s', (_, given) => {
    const response = dialectOf(given.api)?.readResponse(given.expect.responseBody ?? null)
    if (given.expect.canonical === null) expect(response).toBeUndefined()
    else {
      const { outputs, finishReasons, usage } = response ?? {}
      expect({ finishReasons, usage }).toEqual({ finishReasons: given.expect.canonical.finishReasons, usage: given.expect.canonical.usage })
      expect(outputs).toMatchObject(given.expect.canonical.outputs)
    }
  })
})
