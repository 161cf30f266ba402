// Canonical messages as the chat messages of training rows. TRL and OpenAI differ in how they say arguments, an empty content and reasoning; nothing else knows about that.
import { asArray, asText, dialectOf, type Json, type Message, type ToolCallPart, type ToolDefinition } from '@homeground/sdk/trace'

export type Row = { [key: string]: Json }

export interface MessageStyle {
  /** TRL: arguments are values and an assistant message always has content. OpenAI: arguments are text, content is absent where there is none. */
  dialect: 'trl' | 'openai'
  /** Arguments and tools as JSON text, since Arrow unites the schemas of all rows otherwise. @default list */
  tools?: 'list' | 'json'
  /** Reasoning goes into `reasoning_content` (TRL only). @default drop */
  reasoning?: 'drop' | 'keep'
}

/** All messages, with tool results in the order of the calls that they answer. */
export function rowMessages(messages: readonly Message[], style: MessageStyle): Row[] {
  const rows: Row[] = []
  let calls: ToolCallPart[] = []
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]
    if (message === undefined) continue
    const results = resultsFrom(messages, index)
    if (results.count > 0) {
      for (const part of inCallOrder(results.parts, calls)) rows.push(resultRow(part, calls, style))
      // What else such a message says (Anthropic puts results and text into one) follows its results.
      for (const rest of results.rest) if (rest.parts.length > 0) rows.push(rowMessage(rest, style))
      index += results.count - 1
      continue
    }
    rows.push(rowMessage(message, style))
    if (message.role === 'assistant') calls = message.parts.filter((part) => part.type === 'tool_call')
  }
  return rows
}

/** One message without tool results. */
export function rowMessage(message: Message, style: MessageStyle): Row {
  const row: Row = { role: message.role, ...(message.name === undefined ? {} : { name: message.name }) }
  const content = contentOf(message)
  if (content !== '' || message.role !== 'assistant' || style.dialect === 'trl') row['content'] = content
  if (message.role !== 'assistant') return row
  const reasoning = message.parts
    .filter((part) => part.type === 'reasoning')
    .map((part) => part.content)
    .filter((text) => text !== '')
  if (style.dialect === 'trl' && style.reasoning === 'keep' && reasoning.length > 0) row['reasoning_content'] = reasoning.join('\n\n')
  const calls = message.parts.filter((part) => part.type === 'tool_call')
  if (calls.length > 0) row['tool_calls'] = calls.map((call) => callRow(call, style))
  return row
}

/** `{ tools }` as the style asks; without any, no key, or the JSON text of an empty list. */
export function rowTools(tools: readonly ToolDefinition[], style: MessageStyle): Row {
  // A provider's own tool (web_search) has no schema that a chat template could show.
  const functions = tools
    .filter(({ type = 'function' }) => type === 'function')
    .map(({ type: _, ...definition }): Json => {
      const fields: Row = {}
      for (const [key, value] of Object.entries(definition)) if (value !== undefined) fields[key] = value
      return { type: 'function', function: fields }
    })
  if (style.tools === 'json') return { tools: JSON.stringify(functions) }
  return functions.length === 0 ? {} : { tools: functions }
}

function callRow(call: ToolCallPart, style: MessageStyle): Row {
  return {
    ...(call.id === undefined ? {} : { id: call.id }),
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call, style) },
  }
}

function argumentsOf(call: ToolCallPart, style: MessageStyle): Json {
  // Text that was never JSON goes out as the model wrote it, not encoded again.
  if (call.invalid === true && typeof call.arguments === 'string') return call.arguments
  if (style.dialect === 'openai' || style.tools === 'json') return call.raw ?? JSON.stringify(call.arguments)
  return call.arguments
}

interface ToolResult {
  id?: string
  response: Json
}

function resultRow(result: ToolResult, calls: readonly ToolCallPart[], style: MessageStyle): Row {
  const call = calls.find(({ id }) => id !== undefined && id === result.id)
  return {
    role: 'tool',
    content: resultText(result.response),
    ...(result.id === undefined ? {} : { tool_call_id: result.id }),
    ...(call === undefined || style.dialect === 'openai' ? {} : { name: call.name }),
  }
}

/** Text as it is; content parts as their text; any other value as JSON text. */
function resultText(response: Json): string {
  if (typeof response === 'string') return response
  const texts = asArray(response).map((part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part) && part['type'] === 'text' ? asText(part['text']) : undefined,
  )
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return texts.join('')
  return JSON.stringify(response)
}

/** The run of messages from `index` on that hold tool results. */
function resultsFrom(messages: readonly Message[], index: number): { count: number; parts: ToolResult[]; rest: Message[] } {
  const parts: ToolResult[] = []
  const rest: Message[] = []
  let count = 0
  for (const message of messages.slice(index)) {
    const results = message.parts.filter((part) => part.type === 'tool_call_response')
    if (results.length === 0) break
    count += 1
    for (const part of results) parts.push(part)
    rest.push({ ...message, parts: message.parts.filter((part) => part.type !== 'tool_call_response') })
  }
  return { count, parts, rest }
}

/** Stable: results that answer no call of the message before stay behind those that do. */
function inCallOrder(results: readonly ToolResult[], calls: readonly ToolCallPart[]): ToolResult[] {
  const place = ({ id }: ToolResult) => {
    const at = calls.findIndex((call) => call.id !== undefined && call.id === id)
    return at < 0 ? calls.length : at
  }
  return [...results].sort((a, b) => place(a) - place(b))
}

/** Text where it is text only, else the list of content parts as chat messages have it. */
function contentOf(message: Message): Json {
  const said = message.parts.filter((part) => part.type !== 'reasoning' && part.type !== 'tool_call' && part.type !== 'tool_call_response')
  if (said.every((part) => part.type === 'text' || part.type === 'refusal'))
    return said.map((part) => ('content' in part ? String(part.content) : '')).join('')
  const written = dialectOf('openai.chat')?.writeRequest({
    model: '',
    messages: [{ role: 'user', parts: said }],
    tools: [],
    parameters: {},
  })
  const [only] = asArray(written?.['messages'])
  return typeof only === 'object' && only !== null && !Array.isArray(only) ? (only['content'] ?? '') : ''
}
