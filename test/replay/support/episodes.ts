// Episodes for replay's tests: short ones by hand, and the recorded airline ones from examples/data.
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'
import {
  type Episode,
  type Json,
  type Message,
  type ModelCall,
  type Part,
  type Step,
  sha256Hex,
  type ToolCall,
} from '@homeground/sdk/trace'
import { readMessage } from '../../../sdk/trace/dialects/openai-chat-messages.ts'

export const text = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] })
export const calls = (...wanted: { id: string; name: string; arguments: Json }[]): Message => ({
  role: 'assistant',
  parts: wanted.map((call): Part => ({ type: 'tool_call', ...call })),
})
export const result = (id: string, response: Json): Message => ({ role: 'tool', parts: [{ type: 'tool_call_response', id, response }] })

/** An episode of one conversation: every assistant message in it is a model call that saw all before it. */
export function episodeOf(name: string, messages: readonly Message[], more: Partial<Episode> & { tools?: ToolCall[] } = {}): Episode {
  const { tools = [], ...given } = more
  const trace = sha256Hex(`trace ${name}`).slice(0, 32)
  const steps: Step[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') steps.push(modelCall(name, messages.slice(0, index), message, steps.length))
  }
  const all = [...steps, ...tools].sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  return {
    format: 1,
    id: trace,
    trace,
    project: 'test',
    session: `session-${name}`,
    tags: {},
    startedAt: instant(0),
    durationMs: 1_000,
    steps: all,
    feedback: [],
    source: { kind: 'trace' },
    ...given,
  }
}

export function modelCall(name: string, messages: Message[], output: Message, index: number): ModelCall {
  return {
    kind: 'model',
    id: sha256Hex(`${name} ${index}`).slice(0, 16),
    startedAt: instant(index * 10),
    durationMs: 5,
    api: 'openai.chat',
    provider: 'openai',
    model: 'gpt-4o',
    request: { messages, tools: [], parameters: {} },
    response: {
      outputs: [output],
      finishReasons: [output.parts.some((part) => part.type === 'tool_call') ? 'tool_call' : 'stop'],
      usage: { inputTokens: 10, outputTokens: 5 },
    },
  }
}

/** A tool span that began `afterMs` after the episode. */
export function toolSpan(name: string, args: Json, afterMs: number, more: Partial<ToolCall> = {}): ToolCall {
  return {
    kind: 'tool',
    id: sha256Hex(`${name} ${JSON.stringify(args)} ${afterMs}`).slice(0, 16),
    startedAt: instant(afterMs),
    durationMs: 2,
    name,
    arguments: args,
    effect: 'read',
    ...more,
  }
}

export function instant(afterMs: number): string {
  return new Date(Date.UTC(2026, 0, 5, 10, 0, 0, 0) + afterMs).toISOString()
}

/** A span for each tool result, between the model calls that asked for it and saw it. */
function toolSpansOf(messages: readonly Message[]): ToolCall[] {
  const spans: ToolCall[] = []
  const asked: { id?: string; name: string; arguments: Json }[] = []
  let modelCalls = 0
  for (const message of messages) {
    if (message.role === 'assistant') modelCalls += 1
    for (const part of message.parts) {
      if (part.type === 'tool_call') asked.push(part)
      if (part.type !== 'tool_call_response') continue
      const call = asked.shift()
      if (call)
        spans.push(
          toolSpan(call.name, call.arguments, modelCalls * 10 - 3, { result: part.response, ...(call.id ? { callId: call.id } : {}) }),
        )
    }
  }
  return spans
}

interface TauLine {
  task_id: number
  trial: number
  reward: number
  messages: Json[]
  expected_actions: { name: string; kwargs?: Json; arguments?: Json }[]
  expected_outputs: Json[]
}

/** The recorded airline episodes; the first `count` of them. */
export function airlineEpisodes(count = 200): Episode[] {
  const file = fileURLToPath(new URL('../../../examples/data/tau-airline-gpt4o.jsonl.gz', import.meta.url))
  const lines = zlib.gunzipSync(fs.readFileSync(file)).toString('utf8').trim().split('\n').slice(0, count)
  return lines.map((line) => {
    const given: TauLine = JSON.parse(line)
    const name = `tau-${given.task_id}-${given.trial}`
    const feedback = (feedbackName: string, value: number | string) => ({ name: feedbackName, value, source: 'import', at: instant(0) })
    const messages = given.messages.map(readMessage)
    return episodeOf(name, messages, {
      tools: toolSpansOf(messages),
      session: `tau-airline-${given.task_id}`,
      project: 'tau-airline',
      source: { kind: 'import', repeat: given.trial },
      feedback: [
        feedback('reward', given.reward),
        feedback('expected_actions', JSON.stringify(given.expected_actions)),
        feedback('expected_outputs', JSON.stringify(given.expected_outputs)),
      ],
    })
  })
}
