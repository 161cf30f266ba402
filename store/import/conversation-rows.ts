// A finished conversation in chat messages becomes the rows of the run that must have made it: one model call an assistant message, with all that was said before it,
// and one tool call each. Times are made up, in order and the same at every import, since such files carry none.
import { asArray, asObject, asText, emptyRow, homeground, type Json, jsonOrText, type SpanRow, sha256Hex } from '@homeground/sdk/trace'
import type { ImportedTool } from './types.ts'

export interface Conversation {
  project: string
  /** 32 hex. */
  traceId: string
  agentName: string
  session: string
  user: string
  tags: Record<string, string>
  model: string
  /** OpenAI chat messages, as they stand in the file. */
  messages: readonly { [key: string]: Json }[]
  /** Sent with every call; OpenAI's own form. */
  tools: readonly Json[]
  effects: ReadonlyMap<string, ImportedTool['effect']>
  startTimeUnixNano: bigint
  /** The agent's own input, as JSON text; '' for none. */
  input: string
  source: { ref: string; task: string; repeat: number }
}

const second = 1_000_000_000n
const modelTime = second
const toolTime = second / 10n

/** The agent's row first, then its calls in order. What was said after the last call is kept on the agent's row. */
export function conversationRows(conversation: Conversation): SpanRow[] {
  const { messages, traceId } = conversation
  const rows: SpanRow[] = []
  let clock = conversation.startTimeUnixNano
  const place = (duration: bigint) => {
    const start = clock
    clock += duration
    return {
      spanId: spanIdOf(traceId, rows.length + 1),
      parentSpanId: spanIdOf(traceId, 0),
      startTimeUnixNano: start,
      endTimeUnixNano: clock,
    }
  }
  const base = baseOf(conversation)
  for (const [index, message] of messages.entries()) {
    if (message['role'] !== 'assistant') continue
    rows.push({ ...base, ...place(modelTime), ...modelColumns(conversation, messages.slice(0, index), message) })
    for (const call of callsWithResults(message, messages, index)) {
      rows.push({ ...base, ...place(toolTime), ...toolColumns(call, conversation.effects) })
    }
  }
  const last = messages.findLastIndex((message) => message['role'] === 'assistant')
  const after = messages.slice(last + 1).filter((message) => message['role'] !== 'tool')
  const agent: SpanRow = {
    ...base,
    spanId: spanIdOf(traceId, 0),
    kind: 'agent',
    name: `invoke_agent ${conversation.agentName}`,
    startTimeUnixNano: conversation.startTimeUnixNano,
    endTimeUnixNano: clock,
    agentName: conversation.agentName,
    input: conversation.input,
    output: answerOf(messages[last]),
    attributes: after.length === 0 ? {} : { [homeground.importMessagesAfter]: JSON.stringify(after) },
  }
  return [agent, ...rows]
}

/** 16 hex, from the trace and the row's place in it. */
function spanIdOf(traceId: string, index: number): string {
  return sha256Hex(`${traceId} ${index}`).slice(0, 16)
}

function modelColumns(conversation: Conversation, before: readonly Json[], message: { [key: string]: Json }): Partial<SpanRow> {
  const called = asArray(message['tool_calls']).length > 0
  const tools = conversation.tools.length === 0 ? {} : { tools: conversation.tools }
  const finishReason = called ? 'tool_calls' : 'stop'
  return {
    kind: 'model',
    name: `chat ${conversation.model}`,
    api: 'openai.chat',
    provider: 'openai',
    model: conversation.model,
    finishReasons: [called ? 'tool_call' : 'stop'],
    requestBody: JSON.stringify({ model: conversation.model, messages: before, ...tools }),
    responseBody: JSON.stringify({
      object: 'chat.completion',
      model: conversation.model,
      choices: [{ index: 0, message, finish_reason: finishReason }],
    }),
  }
}

interface RecordedCall {
  id: string
  name: string
  /** As the model wrote them. */
  arguments: string
  result: Json | undefined
}

/** The message's calls with what the tool messages right after it say: by id, else by place, since ids are not always unique. */
function callsWithResults(message: { [key: string]: Json }, messages: readonly { [key: string]: Json }[], index: number): RecordedCall[] {
  const results: { [key: string]: Json }[] = []
  for (const next of messages.slice(index + 1)) {
    if (next['role'] !== 'tool') break
    results.push(next)
  }
  return asArray(message['tool_calls']).map((sent) => {
    const call = asObject(sent) ?? {}
    const called = asObject(call['function']) ?? {}
    const id = asText(call['id']) ?? ''
    const named = results.findIndex((result) => result['tool_call_id'] === id)
    const [result] = results.splice(Math.max(named, 0), 1)
    const given = called['arguments']
    return {
      id,
      name: asText(called['name']) ?? '',
      arguments: asText(given) ?? JSON.stringify(given ?? {}),
      result: result?.['content'],
    }
  })
}

function toolColumns(call: RecordedCall, effects: Conversation['effects']): Partial<SpanRow> {
  return {
    kind: 'tool',
    name: `execute_tool ${call.name}`,
    toolName: call.name,
    callId: call.id,
    effect: effects.get(call.name) ?? 'unknown',
    // A row holds JSON text: what the model wrote where it is JSON, else that text as a JSON string.
    arguments:
      call.arguments === '' ? '{}' : jsonOrText(call.arguments) === call.arguments ? JSON.stringify(call.arguments) : call.arguments,
    result: call.result === undefined ? '' : JSON.stringify(call.result),
  }
}

/** The text of the last answer, as JSON text; '' where it ended with a call. */
function answerOf(message: { [key: string]: Json } | undefined): string {
  if (message === undefined || asArray(message['tool_calls']).length > 0) return ''
  const content = message['content']
  if (typeof content === 'string') return JSON.stringify(content)
  const texts = asArray(content).map((part) => asText(asObject(part)?.['text']))
  return texts.length > 0 && texts.every((text) => text !== undefined) ? JSON.stringify(texts.join('')) : ''
}

function baseOf(conversation: Conversation): SpanRow {
  return {
    ...emptyRow(),
    project: conversation.project,
    traceId: conversation.traceId,
    session: conversation.session,
    user: conversation.user,
    tags: conversation.tags,
    source: 'import',
    sourceRef: conversation.source.ref,
    task: conversation.source.task,
    repeat: conversation.source.repeat,
  }
}
