// Messages of the Chat Completions API, read into the canonical form and written back. The wire says no order between reasoning, text and calls of one message: it is always this one.
import type { Json, Message, Part, RefusalPart, ToolCallPart } from '../episode.ts'
import { asArray, asObject, asText, textOfJson } from '../json.ts'
import { readContentPart, writeContentPart } from './openai-chat-content.ts'
import { extra, nestedExtra, writtenExtra } from './provider-extra.ts'
import { readArguments, writeArguments } from './tool-arguments.ts'

const api = 'openai.chat'
type Fields = { [key: string]: Json }

const known = ['role', 'content', 'refusal', 'reasoning', 'reasoning_content', 'tool_calls', 'function_call', 'tool_call_id', 'token_ids']

/** Any JSON: what is no message becomes one without parts, of role `unknown`. */
export function readMessage(sent: Json): Message {
  const message = asObject(sent) ?? {}
  const role = asText(message['role']) ?? 'unknown'
  const name = asText(message['name'])
  const parts = role === 'tool' || role === 'function' ? [readToolResult(message)] : readParts(message)
  return { role, ...(name === undefined ? {} : { name }), parts, ...extra(api, message, known) }
}

/** A conversation is sent again with each call, so what a message became is kept as long as the message lives. Neither is changed by anyone. */
const written = new WeakMap<Message, Fields[]>()

/** Parts that the dialect cannot say (another provider's own) are left out. */
export function writeMessages(messages: readonly Message[]): Fields[] {
  return messages.flatMap((message) => {
    const before = written.get(message)
    if (before !== undefined) return before
    const results = message.parts.filter((part) => part.type === 'tool_call_response')
    // One message a result on this wire, whatever the role of the message that held them.
    const answers = results.map((part): Fields => {
      const head: Fields = message.role === 'function' ? { role: 'function' } : { role: 'tool' }
      if (part.id !== undefined) head['tool_call_id'] = part.id
      return { ...head, ...named(message), content: writeResult(part.response), ...writtenExtra(api, message) }
    })
    const fields = message.parts.length > 0 && results.length === message.parts.length ? answers : [...answers, writeMessage(message)]
    written.set(message, fields)
    return fields
  })
}

/** One message that holds no tool results. */
export function writeMessage(message: Message): Fields {
  const reasoning = reasoningFields(message)
  const calls = message.parts.filter((part) => part.type === 'tool_call')
  const legacy = calls.find((part) => part.provider?.['function_call'] === true)
  const toolCalls = calls.filter((part) => part !== legacy)
  const refusals = refusalsAtEnd(message)
  const content = message.parts.flatMap((part): Fields[] => {
    const sent = refusals.length > 0 && part.type === 'refusal' ? undefined : writeContentPart(part)
    return sent === undefined ? [] : [sent]
  })
  return {
    role: message.role,
    ...named(message),
    content: writeContent(content, { empty: calls.length > 0 || refusals.length > 0 ? null : '' }),
    ...(refusals.length > 0 ? { refusal: refusals.map((part) => part.content).join('') } : {}),
    ...reasoning,
    ...(legacy !== undefined ? { function_call: { name: legacy.name, arguments: writeArguments(legacy) } } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(writeCall) } : {}),
    ...writtenExtra(api, message),
  }
}

/** A refusal has a field of its own, which can say it behind all content only. */
function refusalsAtEnd({ role, parts }: Message): RefusalPart[] {
  const content = parts.filter((part) => part.type !== 'tool_call' && part.type !== 'reasoning')
  const refusals = content.filter((part) => part.type === 'refusal')
  const atEnd = content.slice(content.length - refusals.length).every((part) => part.type === 'refusal')
  return role === 'assistant' && atEnd && refusals.every((part) => Object.keys(writtenExtra(api, part)).length === 0) ? refusals : []
}

function readParts(message: Fields): Part[] {
  const parts: Part[] = []
  for (const field of ['reasoning_content', 'reasoning'] as const) {
    const content = asText(message[field])
    if (content === undefined || content === '' || parts.length > 0) continue
    // vLLM and OpenRouter say `reasoning`, DeepSeek said `reasoning_content`: written back as it came.
    parts.push({ type: 'reasoning', content, ...(field === 'reasoning' ? { provider: { name: api, field } } : {}) })
  }
  const text = asText(message['content'])
  if (text !== undefined) {
    if (text !== '') parts.push({ type: 'text', content: text })
  } else for (const part of asArray(message['content'])) parts.push(readContentPart(part))
  const refusal = asText(message['refusal'])
  if (refusal !== undefined && refusal !== '') parts.push({ type: 'refusal', content: refusal })
  for (const call of asArray(message['tool_calls'])) parts.push(readCall(call))
  const legacy = asObject(message['function_call'])
  if (legacy !== undefined) parts.push({ ...readFunction(legacy), provider: { name: api, function_call: true } })
  return parts
}

function readCall(sent: Json): Part {
  const call = asObject(sent) ?? {}
  const id = call['id'] === undefined || call['id'] === null ? {} : { id: textOfJson(call['id']) }
  const custom = asObject(call['custom'])
  if (custom !== undefined) {
    const input: Json = asText(custom['input']) ?? ''
    const kept = extra(api, call, ['id', 'custom', 'type'], { type: 'custom', ...nestedExtra('custom', custom, ['name', 'input']) })
    return { type: 'tool_call', ...id, name: asText(custom['name']) ?? '', arguments: input, ...kept }
  }
  const called = asObject(call['function']) ?? {}
  // Moonshot's own tools are called as `builtin_function`.
  const type = asText(call['type']) || 'function'
  const more: Fields = { ...(type === 'function' ? {} : { type }), ...nestedExtra('function', called, ['name', 'arguments']) }
  // Some servers number the calls of an unstreamed message too.
  const kept = extra(api, call, ['id', 'type', 'function', 'index'], more)
  return { ...readFunction(called), ...id, ...kept }
}

function readFunction(called: Fields): ToolCallPart {
  return { type: 'tool_call', name: asText(called['name']) ?? '', ...readArguments(called['arguments']) }
}

function writeCall(part: ToolCallPart): Fields {
  const { type = 'function', function: called, custom, ...kept } = writtenExtra(api, part)
  const id: Fields = part.id === undefined ? {} : { id: part.id }
  if (type === 'custom') {
    const input = typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments)
    return { ...id, type, custom: { name: part.name, input, ...asObject(custom) }, ...kept }
  }
  return { ...id, type, function: { name: part.name, arguments: writeArguments(part), ...asObject(called) }, ...kept }
}

/** The content of a tool message stays as it was sent, text or a list of parts: parsing text would lose its spelling. */
function readToolResult(message: Fields): Part {
  const id = message['tool_call_id']
  return {
    type: 'tool_call_response',
    ...(id === undefined || id === null ? {} : { id: textOfJson(id) }),
    response: message['content'] ?? '',
  }
}

const contentTypes = new Set(['text', 'refusal', 'image_url', 'input_audio', 'video_url', 'file'])

/** As it was sent; a value of another origin goes out as JSON text, also a list of things that have types of their own. */
function writeResult(response: Json): Json {
  if (typeof response === 'string') return response
  const isContent =
    Array.isArray(response) && response.length > 0 && response.every((part) => contentTypes.has(asText(asObject(part)?.['type']) ?? ''))
  return isContent ? response : JSON.stringify(response)
}

function writeContent(content: Fields[], options: { empty: Json }): Json {
  const [only] = content
  if (only === undefined) return options.empty
  const bare = content.length === 1 && only['type'] === 'text' && Object.keys(only).length === 2 && only['text'] !== ''
  return bare ? (only['text'] ?? '') : content
}

function reasoningFields(message: Message): Fields {
  const parts = message.parts.filter((part) => part.type === 'reasoning').filter((part) => part.content !== '')
  if (parts.length === 0) return {}
  const content = parts.map((part) => part.content).join('\n\n')
  return parts[0]?.provider?.['field'] === 'reasoning' ? { reasoning: content } : { reasoning_content: content }
}

function named(message: Message): Fields {
  return message.name === undefined ? {} : { name: message.name }
}
