import type { Message, ModelCall } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { messageGraph } from '../../../tune/verifiers/message-graph.ts'
import { candidateOf } from '../dataset/case-source.ts'

const text = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] })
const call = (messages: Message[], output: Message, tokens?: ModelCall['tokens']): Partial<ModelCall> => ({
  kind: 'model',
  request: { messages, tools: [{ name: 'find', description: 'Finds', parameters: { type: 'object' } }], parameters: {} },
  response: { outputs: [output], finishReasons: ['tool_call'], usage: { inputTokens: 9, cacheReadTokens: 4, outputTokens: 2 } },
  ...(tokens === undefined ? {} : { tokens }),
})
const graphOf = (...steps: Partial<ModelCall>[]) =>
  messageGraph(candidateOf({ id: 'e'.repeat(32), session: 's', split: 'train', steps }).episode)
const pathOf = (nodes: readonly { [name: string]: unknown }[], leaf: number): number[] => {
  const parent = nodes[leaf]?.['parent']
  return typeof parent === 'number' ? [...pathOf(nodes, parent), leaf] : [leaf]
}

const system = text('developer', 'Help.')
const asked = text('user', 'Where is it?')
const asks: Message = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: { what: 'it' } }] }
const found: Message = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: { at: 'home' } }] }
const says = text('assistant', 'At home.')
const at = Date.parse('2026-01-31T12:00:00.000Z') / 1000

describe('the graph of messages', () => {
  test('has each message once, behind the one that it followed, with what the model said marked', () => {
    const { nodes, calls } = graphOf(call([system, asked], asks), call([system, asked, asks, found], says))
    expect(nodes).toEqual([
      {
        tools: [{ name: 'find', description: 'Finds', parameters: { type: 'object' } }],
        message: { role: 'system', content: 'Help.' },
        timestamp: at,
      },
      { parent: 0, message: { role: 'user', content: 'Where is it?' }, timestamp: at },
      {
        parent: 1,
        message: { role: 'assistant', content: null, tool_calls: [{ id: 'c1', name: 'find', arguments: '{"what":"it"}' }] },
        sampled: true,
        timestamp: at,
      },
      { parent: 2, message: { role: 'tool', content: '{"at":"home"}', tool_call_id: 'c1' }, timestamp: at },
      { parent: 3, message: { role: 'assistant', content: 'At home.' }, sampled: true, timestamp: at },
    ])
    const usage = { prompt_tokens: 5, completion_tokens: 2, cached_input_tokens: 4 }
    const common = { model: 'm', finish_reason: 'tool_calls', usage, time: { start: at, end: at } }
    expect(calls).toEqual([
      { node: 2, ...common },
      { node: 4, ...common },
    ])
  })

  test('branches where the history was rewritten', () => {
    const summary = text('user', 'So far: it is at home.')
    const { nodes } = graphOf(call([system, asked], asks), call([system, summary], says))
    expect([pathOf(nodes, 2), pathOf(nodes, 4)]).toEqual([
      [0, 1, 2],
      [0, 3, 4],
    ])
  })

  test('gives the tokens that each turn adds to its path, and none where a prompt does not go on with them', () => {
    const first = { promptIds: [1, 2], completionIds: [3, 4], logprobs: [-0.5, -0.25] }
    const goesOn = { promptIds: [1, 2, 3, 4, 5], completionIds: [6] }
    const retokenised = { promptIds: [1, 2, 3, 9, 5], completionIds: [6] }
    const tokensOf = (second: ModelCall['tokens']) =>
      graphOf(call([system, asked], asks, first), call([system, asked, asks, found], says, second)).nodes.flatMap(
        ({ token_ids, mask, logprobs }) => (token_ids === undefined ? [] : [{ token_ids, mask, logprobs }]),
      )
    const opening = { token_ids: [1, 2, 3, 4], mask: [false, false, true, true], logprobs: [-0.5, -0.25] }
    expect(tokensOf(goesOn)).toEqual([opening, { token_ids: [5, 6], mask: [false, true], logprobs: undefined }])
    expect(tokensOf(retokenised)).toEqual([opening])
  })
})
