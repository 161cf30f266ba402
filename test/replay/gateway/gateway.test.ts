// The gateway with the vendors' own clients in front of it, and endpoints of each dialect behind it.
import Anthropic from '@anthropic-ai/sdk'
import { asObject, dialectOf, type Json, type ModelResponse } from '@homeground/sdk/trace'
import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { armModel } from '../../../replay/gateway/arm-model.ts'
import { type GatewayServer, serveGateway } from '../../../replay/gateway/serve-gateway.ts'
import { translateParameters } from '../../../replay/gateway/translate-parameters.ts'
import type { Arm } from '../../../replay/run/types.ts'

const canonical: ModelResponse = {
  model: 'm',
  id: 'r1',
  outputs: [
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'Let me look, é.' },
        { type: 'tool_call', id: 'call_1', name: 'look', arguments: { at: 'moon' } },
        { type: 'tool_call', id: 'call_2', name: 'look', arguments: { at: 'sun' } },
      ],
    },
  ],
  finishReasons: ['tool_call'],
  usage: { inputTokens: 7, outputTokens: 3 },
}

let gateway: GatewayServer | undefined
afterEach(async () => {
  await gateway?.close()
  gateway = undefined
})

const apis = ['openai.chat', 'openai.responses', 'anthropic.messages'] as const

/** A gateway to an endpoint that speaks `api` and always answers the same. */
async function start(api: (typeof apis)[number], seen: Json[] = []): Promise<GatewayServer> {
  const arm: Arm = { name: 'a', model: 'the-arm', url: 'http://arm.test', api, parameters: { temperature: 0.5 } }
  const model = armModel(arm, {
    fetch: async (_url, init) => {
      seen.push(JSON.parse(String(init?.body)))
      return Response.json(dialectOf(api)?.writeResponse(canonical, { model: 'm' }))
    },
    env: {},
    now: Date.now,
    sleep: async () => {},
    random: () => 0.5,
  })
  gateway = await serveGateway({ models: ['the-arm'], model: (request) => model.answer(request) })
  return gateway
}

const tool = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: { at: { type: 'string' } } } }
const wanted = [
  { name: 'look', arguments: { at: 'moon' } },
  { name: 'look', arguments: { at: 'sun' } },
]

describe.each(apis)('an endpoint that speaks %s', (api) => {
  test.each([false, true])('serves the openai client (chat), streamed: %s', async (stream) => {
    const seen: Json[] = []
    const { url, key } = await start(api, seen)
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
    const request = {
      model: 'product',
      messages: [{ role: 'user' as const, content: 'look' }],
      tools: [{ type: 'function' as const, function: tool }],
      max_completion_tokens: 99,
    }
    const message = stream
      ? await client.chat.completions.stream({ ...request, stream: true }).finalMessage()
      : (await client.chat.completions.create(request)).choices[0]?.message
    expect(message?.content).toBe('Let me look, é.')
    const calls = (message?.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call.function] : []))
    expect(calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }))).toEqual(wanted)
    const asked = dialectOf(api)?.readRequest(seen[0] ?? null)
    expect([asked?.model, asked?.messages, asked?.tools.map((each) => each.name)]).toEqual([
      'the-arm',
      [{ role: 'user', parts: [{ type: 'text', content: 'look' }] }],
      ['look'],
    ])
    expect(asObject(seen[0])?.['temperature']).toBe(0.5)
  })

  test.each([false, true])('serves the openai client (responses), streamed: %s', async (stream) => {
    const { url, key } = await start(api)
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
    const request = { model: 'product', input: 'look', tools: [{ type: 'function' as const, strict: null, ...tool }] }
    const response = stream ? await client.responses.stream(request).finalResponse() : await client.responses.create(request)
    const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    expect(calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }))).toEqual(wanted)
    expect(response.output_text).toBe('Let me look, é.')
  })

  test.each([false, true])('serves the Anthropic client, streamed: %s', async (stream) => {
    const { url, key } = await start(api)
    const client = new Anthropic({ baseURL: url, apiKey: key })
    const request = {
      model: 'product',
      max_tokens: 99,
      messages: [{ role: 'user' as const, content: 'look' }],
      tools: [{ name: 'look', input_schema: { type: 'object' as const } }],
    }
    const message = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request)
    const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    expect(calls.map((call) => ({ name: call.name, arguments: call.input }))).toEqual(wanted)
    expect(message.stop_reason).toBe('tool_use')
  })
})

describe('the gateway', () => {
  test('refuses the key of another rollout and knows its models', async () => {
    const { url, key } = await start('openai.chat')
    const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'other' })
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401 })
    const listed = await new OpenAI({ baseURL: `${url}/v1`, apiKey: key }).models.list()
    expect(listed.data.map((model) => model.id)).toEqual(['the-arm'])
  })
})

describe('translateParameters', () => {
  const chat = {
    max_tokens: 50,
    temperature: 1.5,
    stop: 'END',
    tool_choice: { type: 'function', function: { name: 'look' } },
    parallel_tool_calls: false,
    seed: 7,
    stream: true,
  }

  test('says in the Messages API what it can, and names the rest', () => {
    expect(translateParameters(chat, 'openai.chat', 'anthropic.messages')).toEqual({
      parameters: {
        max_tokens: 50,
        temperature: 1,
        stop_sequences: ['END'],
        tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      },
      untranslated: ['seed', 'temperature above 1'],
    })
  })

  test('comes back from there', () => {
    const { parameters } = translateParameters(chat, 'openai.chat', 'anthropic.messages')
    expect(translateParameters(parameters, 'anthropic.messages', 'openai.chat')).toEqual({
      parameters: {
        max_completion_tokens: 50,
        temperature: 1,
        stop: ['END'],
        tool_choice: { type: 'function', function: { name: 'look' } },
        parallel_tool_calls: false,
      },
      untranslated: [],
    })
  })

  test('names what the Responses API has no word for', () => {
    expect(translateParameters({ stop: 'x', response_format: { type: 'json_object' } }, 'openai.chat', 'openai.responses')).toEqual({
      parameters: { text: { format: { type: 'json_object' } } },
      untranslated: ['stop'],
    })
  })
})
