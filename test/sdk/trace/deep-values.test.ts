import {
  type Attributes,
  assembleEpisodes,
  canonicalJson,
  type Episode,
  formatEpisodeLine,
  normaliseSpan,
  parseEpisodeLine,
} from '@homeground/sdk/trace'
import { expect, test } from 'vitest'
import { spanId, traceOfNumbered as trace } from '../../support/span-rows.ts'

const levels = 100_000
const list = '['.repeat(levels) + ']'.repeat(levels)
const object = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const message = (content: string) => `{"role":"user","content":${content}}`
const answer = (field: string) => `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",${field}}}]}`
const called = (text: string) =>
  answer(`"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(text)}}}]`)

function episodeOf(attributes: Attributes): Episode | undefined {
  const span = {
    traceId: trace,
    spanId: spanId(1),
    name: 'span',
    kind: 3,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 1_000_000n,
    attributes,
    status: { code: 0 as const },
    events: [],
    resource: {},
    scope: { name: 'somebody' },
  }
  return assembleEpisodes([normaliseSpan(span)], [])[0]
}

const chat = { 'gen_ai.operation.name': 'chat', 'homeground.api': 'openai.chat' }
const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'f' }

/** JSON.parse reads them; what walks through them afterwards has a stack that ends. */
test.each<[string, Attributes]>([
  ['a request', { ...chat, 'homeground.request.body': `{"messages":[${message(list)}]}` }],
  ['a field of a request', { ...chat, 'homeground.request.body': `{"messages":[${message('"hi"')}],"x":${object}}` }],
  ['arguments that a model wrote', { ...chat, 'homeground.response.body': called(object) }],
  ['an answer', { ...chat, 'homeground.response.body': answer(`"content":${list}`) }],
  ['arguments of a tool', { ...tool, 'gen_ai.tool.call.arguments': object }],
  ['the result of a tool', { ...tool, 'gen_ai.tool.call.result': list }],
  [
    'what an agent was given',
    { 'gen_ai.operation.name': 'invoke_agent', 'homeground.agent.input': list, 'homeground.agent.output': object },
  ],
  [
    'messages by the conventions',
    { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': `[{"role":"user","parts":[{"type":"x","y":${list}}]}]` },
  ],
  [
    'an attribute of OpenInference',
    { 'openinference.span.kind': 'LLM', 'llm.input_messages.0.message.content': list, 'input.value': object },
  ],
  ['a flattened name', { 'openinference.span.kind': 'LLM', [`llm.input_messages.0.message${'.a'.repeat(levels)}`]: 'x' }],
])('an episode can be written and read again whose values are nested too deep: %s', (_, attributes) => {
  const episode = episodeOf(attributes)
  if (episode === undefined) throw new Error('there is an episode')
  expect(canonicalJson(JSON.parse(JSON.stringify(episode)))).toContain(trace)
  expect(parseEpisodeLine(formatEpisodeLine(episode), 'here')).toEqual(episode)
})
