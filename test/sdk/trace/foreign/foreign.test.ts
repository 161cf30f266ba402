import { type Attributes, assembleEpisodes, type ModelCall, normaliseSpan, type SpanRecord } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spanId, traceOfNumbered as trace } from '../../../support/span-rows.ts'

function span(attributes: Attributes, given: Partial<SpanRecord> = {}): SpanRecord {
  return {
    traceId: trace,
    spanId: spanId(1),
    name: 'span',
    kind: 3,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 1_000_000n,
    attributes,
    status: { code: 0 },
    events: [],
    resource: {},
    scope: { name: 'somebody' },
    ...given,
  }
}

function call(attributes: Attributes, given: Partial<SpanRecord> = {}): ModelCall {
  const step = assembleEpisodes([normaliseSpan(span(attributes, given))], [])[0]?.steps[0]
  if (step?.kind !== 'model') throw new Error('expected a model call')
  return step
}

// The three other instrumentations are in test/cases/otlp, over real HTTP.
describe('OpenLLMetry', () => {
  test('becomes a model call with messages, tools, parameters and usage', () => {
    const read = call({
      'traceloop.span.kind': 'task',
      'llm.request.type': 'chat',
      'gen_ai.system': 'OpenAI',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.model': 'gpt-4o-2024',
      'gen_ai.response.id': 'r',
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 2,
      'gen_ai.prompt.0.role': 'system',
      'gen_ai.prompt.0.content': 'Be brief.',
      'gen_ai.prompt.1.role': 'user',
      'gen_ai.prompt.1.content': '[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"https://img.test/a.png"}}]',
      'gen_ai.prompt.2.role': 'assistant',
      'gen_ai.prompt.2.tool_calls.0.id': 'c0',
      'gen_ai.prompt.2.tool_calls.0.name': 'look',
      'gen_ai.prompt.2.tool_calls.0.arguments': '{"a":1}',
      'gen_ai.prompt.3.role': 'tool',
      'gen_ai.prompt.3.tool_call_id': 'c0',
      'gen_ai.prompt.3.content': 'found',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'A lamp.',
      'gen_ai.completion.0.finish_reason': 'stop',
      'llm.request.functions.0.name': 'look',
      'llm.request.functions.0.parameters': '{"type":"object"}',
      'gen_ai.prompt.10.role': 'user',
      'gen_ai.prompt.10.content': 'And now?',
    })
    expect(read).toEqual({
      kind: 'model',
      id: spanId(1),
      startedAt: '1970-01-01T00:00:00.000Z',
      durationMs: 1,
      api: 'openllmetry',
      provider: 'openai',
      model: 'gpt-4o',
      request: {
        messages: [
          { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
          {
            role: 'user',
            parts: [
              { type: 'text', content: 'Look' },
              { type: 'uri', modality: 'image', uri: 'https://img.test/a.png' },
            ],
          },
          { role: 'assistant', parts: [{ type: 'tool_call', id: 'c0', name: 'look', arguments: { a: 1 } }] },
          { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: 'found' }] },
          { role: 'user', parts: [{ type: 'text', content: 'And now?' }] },
        ],
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
        parameters: { temperature: 0.5 },
      },
      response: {
        model: 'gpt-4o-2024',
        id: 'r',
        outputs: [{ role: 'assistant', parts: [{ type: 'text', content: 'A lamp.' }] }],
        finishReasons: ['stop'],
        usage: { inputTokens: 10, outputTokens: 2 },
      },
    })
  })

  test('gives workflows as agents, its tools as tools and its tasks as other spans', () => {
    const about = {
      'traceloop.entity.name': 'desk',
      'traceloop.entity.input': '{"q":1}',
      'traceloop.entity.output': '"done"',
      'traceloop.association.properties.session_id': 's',
      'traceloop.association.properties.plan': 'gold',
    }
    const rows = ['workflow', 'tool', 'task'].map((kind) => normaliseSpan(span({ ...about, 'traceloop.span.kind': kind })))
    expect(rows.map(({ kind, session, tags }) => ({ kind, session, tags }))).toEqual(
      ['agent', 'tool', 'other'].map((kind) => ({ kind, session: 's', tags: { plan: 'gold' } })),
    )
    expect(rows[0]).toMatchObject({ agentName: 'desk', input: '{"q":1}', output: '"done"' })
    expect(rows[1]).toMatchObject({ toolName: 'desk', arguments: '{"q":1}', result: '"done"' })
  })
})

describe('the GenAI conventions of others', () => {
  test('may hold messages in an event of the span, and text instead of parts', () => {
    const content = {
      'gen_ai.input.messages': '[{"role":"user","content":"Hi"}]',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}],"finish_reason":"length"}]',
      'gen_ai.system_instructions': 'Be brief.',
    }
    const read = call(
      { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' },
      { events: [{ name: 'gen_ai.client.inference.operation.details', timeUnixNano: 0n, attributes: content }] },
    )
    expect(read.request.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
    ])
    expect(read.response).toEqual({
      outputs: [{ role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] }],
      finishReasons: ['length'],
      usage: {},
    })
  })

  test('may hold messages as structured values', () => {
    const read = call({
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': [
        {
          role: 'user',
          parts: [
            { type: 'text', content: 'Hi' },
            { type: 'blob', modality: 'image', mime_type: null, content: 'AA==' },
          ],
        },
      ],
    })
    expect(read.request.messages).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Hi' },
          { type: 'blob', modality: 'image', content: 'AA==' },
        ],
      },
    ])
  })

  test("give an agent's messages as its input and output", () => {
    const row = normaliseSpan(
      span({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'desk',
        'gen_ai.input.messages': '[1]',
        'gen_ai.output.messages': '[2]',
      }),
    )
    expect(row).toMatchObject({ kind: 'agent', agentName: 'desk', input: '[1]', output: '[2]' })
  })

  test('are read by the names of before: no operation, one JSON text for all messages, parameters under gen_ai.openai', () => {
    const read = call({
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.openai.request.seed': 7,
      'gen_ai.usage.prompt_tokens': 3,
      'gen_ai.usage.completion_tokens': 4,
      'gen_ai.prompt': '[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]',
      'gen_ai.completion': '[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]',
    })
    expect({ provider: read.provider, model: read.model, request: read.request, response: read.response }).toEqual({
      provider: 'openai',
      model: 'm',
      request: {
        messages: [
          { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
          { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
        ],
        tools: [],
        parameters: { seed: 7 },
      },
      response: {
        outputs: [{ role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] }],
        finishReasons: ['stop'],
        usage: { inputTokens: 3, outputTokens: 4 },
      },
    })
  })

  test('are read by the names of after: caches written, seconds to the first chunk, workflows that are agents', () => {
    const read = call({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.cache_write.input_tokens': 2,
      'gen_ai.usage.reasoning.output_tokens': 1,
    })
    expect(read).toMatchObject({ provider: 'anthropic', firstChunkMs: 250, request: { parameters: { stream: true } } })
    expect(read.response?.usage).toEqual({ inputTokens: 9, cacheReadTokens: 5, cacheWriteTokens: 2, reasoningTokens: 1 })
    const workflow = span({ 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': 'desk' })
    expect(normaliseSpan(workflow)).toMatchObject({ kind: 'agent', agentName: 'desk' })
  })

  test('may hold one message an event of the span, in its attributes or as JSON text in one of them', () => {
    const event = (name: string, attributes: Attributes) => ({ name, timeUnixNano: 0n, attributes })
    const read = call(
      { 'gen_ai.operation.name': 'chat' },
      {
        events: [
          event('gen_ai.system.message', {
            'gen_ai.system': 'az.ai.inference',
            'gen_ai.event.content': '{"role":"system","content":"Be brief."}',
          }),
          event('gen_ai.user.message', { role: 'user', content: 'Hi' }),
          event('gen_ai.assistant.message', {
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"q":1}' } }],
          }),
          event('gen_ai.tool.message', { id: 'c', content: 'found' }),
          event('gen_ai.choice', { index: 1, finish_reason: 'length', message: { content: 'Second' } }),
          event('gen_ai.choice', { index: 0, finish_reason: 'stop', message: 'First' }),
        ],
      },
    )
    expect(read.request.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'look', arguments: { q: 1 } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'found' }] },
    ])
    expect(read.response).toEqual({
      outputs: [
        { role: 'assistant', parts: [{ type: 'text', content: 'First' }] },
        { role: 'assistant', parts: [{ type: 'text', content: 'Second' }] },
      ],
      finishReasons: ['stop', 'length'],
      usage: {},
    })
  })
})

describe('OpenInference', () => {
  test('has function calls, reasoning, names and the models of its newest and oldest names', () => {
    const read = call({
      'openinference.span.kind': 'LLM',
      'llm.request.model_name': 'm',
      'llm.response.model_name': 'm-1',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.name': 'ann',
      'llm.input_messages.0.message.content': 'Hi',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.contents.0.message_content.type': 'reasoning',
      'llm.output_messages.0.message.contents.0.message_content.text': 'Think.',
      'llm.output_messages.0.message.contents.0.message_content.signature': 's',
      'llm.output_messages.0.message.function_call_name': 'look',
      'llm.output_messages.0.message.function_call_arguments_json': '{"q":1}',
    })
    expect({ model: read.model, answered: read.response?.model, asked: read.request.messages, outputs: read.response?.outputs }).toEqual({
      model: 'm',
      answered: 'm-1',
      asked: [{ role: 'user', name: 'ann', parts: [{ type: 'text', content: 'Hi' }] }],
      outputs: [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', content: 'Think.', signature: 's' },
            { type: 'tool_call', name: 'look', arguments: { q: 1 } },
          ],
        },
      ],
    })
  })

  test('has text completions and embeddings', () => {
    const read = call({
      'openinference.span.kind': 'LLM',
      'llm.prompts.0.prompt.text': 'Once',
      'llm.choices.0.completion.text': ' upon',
    })
    expect(read.request.messages).toEqual([{ role: 'user', parts: [{ type: 'text', content: 'Once' }] }])
    expect(read.response?.outputs).toEqual([{ role: 'assistant', parts: [{ type: 'text', content: ' upon' }] }])
    expect(call({ 'openinference.span.kind': 'EMBEDDING', 'embedding.model_name': 'e', 'llm.token_count.prompt': 2 })).toMatchObject({
      model: 'e',
      response: { usage: { inputTokens: 2 } },
    })
  })
})

test('the Vercel AI SDK of version 4 has its names of that time', () => {
  const read = call({
    'ai.operationId': 'ai.streamText.doStream',
    'ai.model.id': 'gpt-4o',
    'ai.model.provider': 'openai.chat',
    'ai.usage.promptTokens': 5,
    'ai.usage.completionTokens': 0,
    'ai.response.msToFirstChunk': 12.5,
    'ai.response.finishReason': 'stop',
    'gen_ai.response.finish_reasons': ['stop'],
    'ai.response.text': 'Hi',
    'ai.prompt.messages':
      '[{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","result":{"left":3}}]},{"role":"user","content":[{"type":"image","image":"https://img.test/a.png","mimeType":"image/png"}]}]',
  })
  expect(read).toMatchObject({ api: 'vercel-ai', provider: 'openai', model: 'gpt-4o', firstChunkMs: 12.5 })
  expect(read.request.messages).toEqual([
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: { left: 3 } }] },
    { role: 'user', parts: [{ type: 'uri', modality: 'image', mime_type: 'image/png', uri: 'https://img.test/a.png' }] },
  ])
  expect(read.response).toEqual({
    outputs: [{ role: 'assistant', parts: [{ type: 'text', content: 'Hi' }] }],
    finishReasons: ['stop'],
    usage: { inputTokens: 5, outputTokens: 0 },
  })
})

test('no attribute of theirs, whatever it holds, makes reading fail', () => {
  const names = [
    'gen_ai.input.messages',
    'gen_ai.output.messages',
    'gen_ai.prompt',
    'gen_ai.completion',
    'input.value',
    'output.value',
    'gen_ai.tool.definitions',
    'ai.prompt.messages',
    'ai.prompt.tools',
    'ai.response.toolCalls',
    'llm.input_messages.0.message',
    'llm.input_messages.0.message.contents.0.message_content',
    'llm.tools.0.tool',
    'gen_ai.prompt.0.role',
    'gen_ai.prompt.0.tool_calls.0',
    'gen_ai.completion.__proto__.content',
    'llm.invocation_parameters',
  ]
  const kinds = [
    { 'gen_ai.operation.name': 'chat' },
    { 'openinference.span.kind': 'LLM' },
    { 'ai.operationId': 'ai.generateText.doGenerate' },
    { 'llm.request.type': 'chat' },
  ]
  const value = fc.oneof(
    fc.json(),
    fc.string(),
    fc.integer(),
    fc.constantFrom(
      '[null,1,{"parts":[null]},{"content":{}}]',
      '[{"type":"tool-call"}]',
      '{"lc":1,"messages":[[{"lc":1,"id":["AIMessage"],"kwargs":{}}]],"generations":[[null]]}',
    ),
  )
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...names), value), (kind, attributes) => {
      expect(call({ ...attributes, ...kind }).kind).toBe('model')
    }),
    { numRuns: 500 },
  )
})
