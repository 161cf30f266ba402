import { dialectOf, type Json, translateRequest } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'

const chat = {
  max_tokens: 100,
  temperature: 0,
  stop: 'END',
  seed: 7,
  n: 2,
  stream: true,
  stream_options: { include_usage: true },
  tool_choice: { type: 'function', function: { name: 'f' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
  reasoning_effort: 'low',
}
const translated = (parameters: { [key: string]: Json }, from: string, to: string) =>
  translateRequest({ model: 'm', messages: [], tools: [], parameters }, from, to).parameters

describe('translateRequest', () => {
  test('says what the other wire can say, under its names, and leaves out the rest', () => {
    expect(translated(chat, 'openai.chat', 'anthropic.messages')).toEqual({
      temperature: 0,
      stream: true,
      max_tokens: 100,
      stop_sequences: ['END'],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    })
    expect(translated(chat, 'openai.chat', 'openai.responses')).toEqual({
      temperature: 0,
      stream: true,
      max_output_tokens: 100,
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', name: 'x', schema: {} } },
      reasoning: { effort: 'low' },
    })
    const anthropic = {
      max_tokens: 5,
      stop_sequences: ['a', 'b'],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      thinking: { type: 'enabled' },
    }
    expect(translated(anthropic, 'anthropic.messages', 'openai.chat')).toEqual({
      max_completion_tokens: 5,
      stop: ['a', 'b'],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    const responses = {
      max_output_tokens: 5,
      text: { format: { type: 'json_object' } },
      tool_choice: 'none',
      reasoning: { effort: 'high' },
      store: false,
    }
    expect(translated(responses, 'openai.responses', 'openai.chat')).toEqual({
      max_completion_tokens: 5,
      response_format: { type: 'json_object' },
      tool_choice: 'none',
      reasoning_effort: 'high',
    })
  })

  test('gives Anthropic the limit that it demands', () => {
    expect(translated({}, 'openai.chat', 'anthropic.messages')).toEqual({ max_tokens: 4096 })
  })

  test('leaves a request of the same wire as it is', () => {
    expect(translated(chat, 'openai.chat', 'openai.chat')).toEqual(chat)
  })

  test('carries a conversation with tools from each wire to each other one', () => {
    const messages = [
      { role: 'system', parts: [{ type: 'text' as const, content: 'S' }] },
      { role: 'user', parts: [{ type: 'text' as const, content: 'Q' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'tool_call' as const, id: 'c1', name: 'f', arguments: { a: 1 } },
          { type: 'tool_call' as const, id: 'c2', name: 'g', arguments: {} },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response' as const, id: 'c1', response: 'one' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response' as const, id: 'c2', response: 'two' }] },
      { role: 'assistant', parts: [{ type: 'text' as const, content: 'A' }] },
    ]
    const request = { model: 'm', messages, tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }], parameters: {} }
    for (const from of ['openai.chat', 'openai.responses', 'anthropic.messages']) {
      for (const to of ['openai.chat', 'openai.responses', 'anthropic.messages']) {
        const read = dialectOf(from)?.readRequest(dialectOf(from)?.writeRequest(request) ?? null)
        const written = read && dialectOf(to)?.writeRequest(translateRequest(read, from, to))
        const back = written && dialectOf(to)?.readRequest(written)
        expect({ from, to, messages: back?.messages, tools: back?.tools }).toEqual({ from, to, messages, tools: request.tools })
      }
    }
  })
})
