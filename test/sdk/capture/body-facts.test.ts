// The facts beside the bodies say what the bodies say: rows are asked by them, and where content is not captured there is nothing else.
import type { HomegroundOptions } from '@homeground/sdk'
import { assembleEpisodes, type Json, normaliseSpan } from '@homeground/sdk/trace'
import { describe, expect, it } from 'vitest'
import { recorded } from '../recorded.ts'

const paths = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }
const openai = { prompt_tokens: 1200, completion_tokens: 20, total_tokens: 1220 }
const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }
const anthropic = { id: 'm', type: 'message', content: [], stop_reason: 'end_turn' }
const response = { id: 'r', object: 'response', status: 'completed', output: [] }

async function answered(api: keyof typeof paths, body: Json, options: Partial<HomegroundOptions> = {}) {
  const { hg, exporter } = recorded(options)
  const client = hg.wrap({ fetch: async (_url: string, _init: RequestInit) => Response.json(body) })
  await (await client.fetch(`http://model.test${paths[api]}`, { method: 'POST', body: '{"model":"m"}' })).text()
  await hg.flush()
  const rows = exporter.spans.map(normaliseSpan)
  const [step] = assembleEpisodes(rows, [])[0]?.steps ?? []
  return { row: rows[0], response: step?.kind === 'model' ? step.response : undefined }
}

describe('usage and finish reasons of a row', () => {
  it.each<[string, keyof typeof paths, Json, object, string[]]>([
    [
      'a gateway that counts Anthropic’s cache beside OpenAI’s details',
      'chat',
      {
        choices: [choice],
        usage: {
          ...openai,
          prompt_tokens_details: { cached_tokens: 1000 },
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 1000,
        },
      },
      { inputTokens: 1200, outputTokens: 20, cacheReadTokens: 1000, cacheWriteTokens: 0 },
      ['stop'],
    ],
    [
      'one that has no details',
      'chat',
      { choices: [choice], usage: { ...openai, cache_read_input_tokens: 1000 } },
      { inputTokens: 1200, outputTokens: 20, cacheReadTokens: 1000 },
      ['stop'],
    ],
    [
      'DeepSeek',
      'chat',
      { choices: [choice], usage: { ...openai, prompt_cache_hit_tokens: 100 } },
      { inputTokens: 1200, outputTokens: 20, cacheReadTokens: 100 },
      ['stop'],
    ],
    [
      'a cache that is written',
      'chat',
      { choices: [choice], usage: { ...openai, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 900 } } },
      { inputTokens: 1200, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 900 },
      ['stop'],
    ],
    [
      'Anthropic, with thinking',
      'messages',
      {
        ...anthropic,
        usage: { input_tokens: 7, cache_read_input_tokens: 2048, output_tokens: 40, output_tokens_details: { thinking_tokens: 31 } },
      },
      { inputTokens: 2055, outputTokens: 40, cacheReadTokens: 2048, reasoningTokens: 31 },
      ['stop'],
    ],
    ['a response that stopped', 'responses', response, {}, ['stop']],
    [
      'a response that calls',
      'responses',
      { ...response, output: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
      {},
      ['tool_call'],
    ],
    [
      'a response that is too long',
      'responses',
      { ...response, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      {},
      ['length'],
    ],
  ])('are those of the answer: %s', async (_, api, body, usage, finishReasons) => {
    const { row, response: whole } = await answered(api, body)
    expect({ usage: whole?.usage, finishReasons: whole?.finishReasons }).toEqual({ usage, finishReasons })
    const without = await answered(api, body, { captureContent: false })
    expect({ usage: without.response?.usage, finishReasons: without.response?.finishReasons }).toEqual({ usage, finishReasons })
    expect(row).toMatchObject({ ...usage, finishReasons })
  })
})

describe('a custom tool', () => {
  it.each<[keyof typeof paths, Json]>([
    [
      'chat',
      { choices: [{ ...choice, message: { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: '{"a":1}' } }] } }] },
    ],
    ['responses', { ...response, output: [{ type: 'custom_tool_call', call_id: 'c', name: 'sql', input: '{"a":1}' }] }],
  ])('is recorded with the call that it serves: %s', async (api, body) => {
    const { hg, exporter } = recorded()
    const client = hg.wrap({ fetch: async (_url: string, _init: RequestInit) => Response.json(body) })
    const sql = hg.tool({ name: 'sql', parameters: { type: 'string' }, execute: async (text: unknown) => text })
    await hg.agent('a', async () => {
      await (await client.fetch(`http://model.test${paths[api]}`, { method: 'POST', body: '{"model":"m"}' })).text()
      await sql.execute('{"a":1}' as never)
    })()
    await hg.flush()
    const tool = exporter.spans.map(normaliseSpan).find(({ kind }) => kind === 'tool')
    expect(tool).toMatchObject({ toolName: 'sql', callId: 'c', arguments: JSON.stringify('{"a":1}') })
  })
})
