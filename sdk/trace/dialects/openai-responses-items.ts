// Items of the Responses API as messages, and back. What a model says in one turn is several items on this wire (reasoning, message, calls) and one message in the
// canonical form; each part keeps the id of its item, which the API wants back.
import type { Json, Message, OtherPart, Part, ReasoningPart, ToolCallPart, ToolCallResponsePart } from '../episode.ts'
import { asArray, asObject, asText, textOfJson } from '../json.ts'
import { ownPart, vendorPart } from '../part.ts'
import { ownFields } from './media.ts'
import { readResponsesContent, writeResponsesContent } from './openai-responses-content.ts'
import { extra, writtenExtra } from './provider-extra.ts'
import { readArguments, writeArguments } from './tool-arguments.ts'

const api = 'openai.responses'
type Fields = { [key: string]: Json }

/** Items of other types that answer a call rather than make one. */
const answers = /_(?:output|response)$/

/** Consecutive items of the model become one assistant message; every other item is a message of its own. */
export function readItems(items: readonly Json[]): Message[] {
  const messages: Message[] = []
  let said: Message | undefined
  for (const sent of items) {
    const item = asObject(sent) ?? {}
    const message = readOther(item)
    if (message !== undefined) {
      messages.push(message)
      said = undefined
      continue
    }
    if (said === undefined) {
      said = { role: 'assistant', parts: [] }
      messages.push(said)
    }
    for (const part of readOwn(item)) said.parts.push(part)
  }
  return messages
}

/** `synthesize`: items without an id get one, as clients of a response expect; reading drops it again. */
export function writeItems(messages: readonly Message[], options: { synthesize: boolean }): Fields[] {
  const items = messages.flatMap((message) => (message.role === 'assistant' ? writeOwn(message.parts, options) : writeOther(message)))
  if (!options.synthesize) return items
  return items.map((item, index) => ('id' in item ? item : { id: `${idPrefix(item)}_hg${index}`, ...item }))
}

/** Messages of others than the model, and results of calls. */
function readOther(item: Fields): Message | undefined {
  const type = asText(item['type']) ?? 'message'
  const role = asText(item['role'])
  if (type === 'message') {
    if (role === 'assistant') return undefined
    return { role: role ?? 'user', parts: contentParts(item['content']), ...extra(api, item, ['type', 'role', 'content', 'status']) }
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const kind: Fields = type === 'function_call_output' ? {} : { type }
    const kept = extra(api, item, ['type', 'call_id', 'output', 'status'], kind)
    return {
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: textOfJson(item['call_id'] ?? ''), response: item['output'] ?? '', ...kept }],
    }
  }
  return answers.test(type) ? { role: 'tool', parts: [ownPart(type, item)] } : undefined
}

function writeOther(message: Message): Fields[] {
  const items: Fields[] = []
  const content: Fields[] = []
  for (const part of message.parts) {
    if (part.type === 'tool_call_response') items.push(writeResult(part))
    else if (message.role === 'tool') items.push(...ownItem(part))
    else content.push(...(writeResponsesContent(part, 'input') ?? []))
  }
  if (message.role === 'tool' || (content.length === 0 && items.length > 0)) return items
  return [...items, { type: 'message', role: message.role, content: content.length === 0 ? '' : content, ...writtenExtra(api, message) }]
}

function writeResult(part: ToolCallResponsePart): Fields {
  const { type = 'function_call_output', ...kept } = writtenExtra(api, part)
  return { type, call_id: part.id ?? '', output: writeOutput(part.response), ...kept }
}

/** One item of the model as parts. */
function readOwn(item: Fields): Part[] {
  switch (asText(item['type']) ?? 'message') {
    case 'message': {
      const { id, parts } = { id: ids(item), parts: contentParts(item['content']) }
      const kept = extra(api, item, ['type', 'role', 'content', 'status', 'id'], id)
      return parts.map((part) => withExtra(part, kept.provider))
    }
    case 'reasoning':
      return readReasoning(item)
    case 'function_call':
      return [
        {
          type: 'tool_call',
          ...callId(item),
          name: asText(item['name']) ?? '',
          ...readArguments(item['arguments']),
          ...callExtra(item, ids(item)),
        },
      ]
    case 'custom_tool_call': {
      const kept = callExtra(item, { ...ids(item), type: 'custom_tool_call' })
      return [{ type: 'tool_call', ...callId(item), name: asText(item['name']) ?? '', arguments: asText(item['input']) ?? '', ...kept }]
    }
    default:
      return [vendorPart(asText(item['type']) ?? 'unknown', item)]
  }
}

/** One part a summary text; the encrypted content stands with the first. */
function readReasoning(item: Fields): ReasoningPart[] {
  const summaries = asArray(item['summary']).map((text) => ({ content: asText(asObject(text)?.['text']) ?? '', more: {} }))
  const texts = asArray(item['content']).map((text) => ({ content: asText(asObject(text)?.['text']) ?? '', more: { in: 'content' } }))
  const all = [...summaries, ...texts]
  if (all.length === 0) all.push({ content: '', more: { in: 'nothing' } })
  return all.map(({ content, more }, index) => {
    const kept =
      index === 0
        ? extra(api, item, ['type', 'summary', 'content', 'status', 'id'], { ...ids(item), ...more })
        : extra(api, {}, [], { ...ids(item), ...more })
    return { type: 'reasoning', content, ...kept }
  })
}

/** Parts that came from one item become one item again, told by its id. */
function writeOwn(parts: readonly Part[], options: { synthesize: boolean }): Fields[] {
  const items: Fields[] = []
  let last: { key: string; item: Fields } | undefined
  const joined = (key: string, begin: () => Fields): Fields => {
    if (last?.key === key) return last.item
    const item = begin()
    items.push(item)
    last = { key, item }
    return item
  }
  for (const part of parts) {
    const kept = writtenExtra(api, part)
    if (part.type === 'reasoning') {
      const { in: place, ...fields } = kept
      const key = JSON.stringify(['reasoning', kept['id']])
      // Of items that lost their id (nothing is stored) the encrypted content says where each begins.
      const begins = kept['encrypted_content'] !== undefined
      // A request may only hold reasoning items that the API itself has made.
      if (!options.synthesize && kept['id'] === undefined && !begins && last?.key !== key) continue
      if (begins) last = undefined
      addReasoning(
        joined(key, () => ({ type: 'reasoning', summary: [], ...fields })),
        part.content,
        place,
      )
      continue
    }
    const content = part.type === 'tool_call' ? undefined : writeResponsesContent(part, 'output')
    if (content !== undefined) {
      const { id, phase } = kept
      const item = joined(JSON.stringify(['message', id, phase]), () => ({
        ...(id === undefined ? {} : { id }),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        ...(phase === undefined ? {} : { phase }),
        content: [],
      }))
      asArray(item['content']).push(...content)
      continue
    }
    if (part.type === 'tool_call') items.push(writeCall(part))
    // A program that the provider runs calls the product's functions, and their results come back in its answer.
    else if (part.type === 'tool_call_response') items.push(writeResult(part))
    else items.push(...ownItem(part))
    last = undefined
  }
  return items
}

function addReasoning(item: Fields, text: string, place: Json | undefined): void {
  if (place === 'nothing') return
  const field = place === 'content' ? 'content' : 'summary'
  const texts = asArray(item[field])
  texts.push({ type: field === 'content' ? 'reasoning_text' : 'summary_text', text })
  item[field] = texts
}

function writeCall(part: ToolCallPart): Fields {
  const { type, ...kept } = writtenExtra(api, part)
  const head = { ...kept, call_id: part.id ?? '', name: part.name, status: 'completed' }
  if (type !== 'custom_tool_call') return { ...head, type: 'function_call', arguments: writeArguments(part) }
  return { ...head, type, input: typeof part.arguments === 'string' ? part.arguments : JSON.stringify(part.arguments) }
}

/** Items of types that only this API knows; parts of other wires have no place here. */
function ownItem(part: Part): Fields[] {
  switch (part.type) {
    case 'blob':
    case 'uri':
    case 'file':
    case 'text':
    case 'refusal':
    case 'reasoning':
    case 'tool_call':
    case 'tool_call_response':
      return []
    default:
      return [ownFields(part satisfies never as OtherPart)]
  }
}

/** As it was sent; a value of another origin goes out as JSON text. */
function writeOutput(response: Json): Json {
  if (typeof response === 'string') return response
  const isContent =
    Array.isArray(response) && response.length > 0 && response.every((part) => asText(asObject(part)?.['type'])?.startsWith('input_'))
  return isContent ? response : JSON.stringify(response)
}

function contentParts(content: Json | undefined): Part[] {
  const text = asText(content)
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', content: text }]
  return asArray(content).map(readResponsesContent)
}

function withExtra(part: Part, provider: { [key: string]: Json } | undefined): Part {
  return provider === undefined ? part : { ...part, provider: { ...part.provider, ...provider, name: api } }
}

function callId(item: Fields): { id?: string } {
  const id = item['call_id'] ?? item['id']
  return id === undefined || id === null || id === '' ? {} : { id: textOfJson(id) }
}

function callExtra(item: Fields, more: Fields): ReturnType<typeof extra> {
  return extra(api, item, ['type', 'call_id', 'arguments', 'input', 'status', 'id'], more)
}

/** The item's own id, unless `writeItems` made it up. */
function ids(item: Fields): Fields {
  const id = asText(item['id'])
  return id === undefined || id === '' || /_hg\d+$/.test(id) ? {} : { id }
}

function idPrefix(item: Fields): string {
  const prefixes: Record<string, string> = { message: 'msg', reasoning: 'rs', function_call: 'fc', custom_tool_call: 'ctc' }
  return prefixes[asText(item['type']) ?? ''] ?? 'item'
}
