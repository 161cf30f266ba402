// Messages that were sent as events beside the span: one event a message (conventions v1.28 to v1.36), one for all prompts and one for all completions
// (before), or one with the message attributes (v1.37 and later). On the span itself, or as log records, which are kept as rows of kind `other` under it.
import { genAi, messageEvent } from '../attributes.ts'
import { readMessage } from '../dialects/openai-chat-messages.ts'
import type { Json, Message } from '../episode.ts'
import { asArray, asNumber, asObject, asText, parseWellFormed } from '../json.ts'
import type { SpanRow } from '../row.ts'
import type { Attributes, AttributeValue } from '../span.ts'
import { jsonValueOf, put } from '../span-attributes.ts'
import { legacyMessages } from './legacy-messages.ts'
import { semconv } from './semconv.ts'
import type { ForeignBody } from './types.ts'

/** What an event says: its body and attributes as one object. */
type Fields = { readonly [name: string]: Json }

const contentNames: readonly string[] = [genAi.inputMessages, genAi.outputMessages, genAi.systemInstructions, genAi.toolDefinitions]
const roles = new Map<string, string>([
  [messageEvent.system, 'system'],
  [messageEvent.user, 'user'],
  [messageEvent.assistant, 'assistant'],
  [messageEvent.tool, 'tool'],
])
const eventNames = new Set<string>(Object.values(messageEvent).filter((name) => name !== messageEvent.content))

/** Whether events of this name hold messages. */
export function isMessageEvent(name: string): boolean {
  return eventNames.has(name)
}

/** An event's body and attributes as JSON: what a row of it keeps in `requestBody`. Members of the body are nearer than attributes. */
export function messageEventFields(attributes: Attributes, body?: AttributeValue): { readonly [name: string]: Json } {
  const fields: Record<string, Json> = {}
  const { [messageEvent.content]: written, ...others } = attributes
  // Azure's client has the whole body as JSON text in an attribute.
  const held = asObject(typeof written === 'string' ? parseWellFormed(written) : undefined)
  const said = body === undefined || body === null ? {} : (asObject(jsonValueOf(body)) ?? { content: jsonValueOf(body) })
  for (const [name, value] of Object.entries(others)) put(fields, name.toWellFormed(), jsonValueOf(value))
  for (const [name, value] of [...Object.entries(held ?? {}), ...Object.entries(said)]) put(fields, name.toWellFormed(), value)
  return fields
}

/** The events of one span, in their order, as the conventions' message attributes. */
export function contentOfEvents(events: readonly { name: string; fields: Fields }[]): Record<string, Json> {
  const content: Record<string, Json> = {}
  // Senders that capture no content write the events all the same: empty messages would read as if nothing had been said.
  const isCaptured = events.some(({ fields }) => holdsContent(fields))
  const input: Message[] = []
  const output: (Message & { finish_reason?: string; index: number })[] = []
  for (const { name, fields } of events) {
    const role = roles.get(name)
    if (name === messageEvent.details) {
      for (const wanted of contentNames) if (fields[wanted] !== undefined) content[wanted] = fields[wanted]
    } else if (!isCaptured) continue
    else if (name === messageEvent.prompts) for (const message of legacyMessages(fields[genAi.legacyPrompt], 'user')) input.push(message)
    else if (name === messageEvent.completions)
      for (const message of legacyMessages(fields[genAi.legacyCompletion], 'assistant')) output.push({ ...message, index: output.length })
    else if (role !== undefined) input.push(inputMessage(role, fields))
    else output.push(choice(fields, output.length))
  }
  if (input.length > 0) content[genAi.inputMessages] ??= asJson(input)
  const inOrder = output.sort((a, b) => a.index - b.index).map(({ index: _index, ...message }) => message)
  if (inOrder.length > 0) content[genAi.outputMessages] ??= asJson(inOrder)
  return content
}

/** Rows whose calls hold what the event rows under them say. What stands on the span itself counts. */
export function withEventContent(rows: readonly SpanRow[]): readonly SpanRow[] {
  const bySpan = new Map<string, Map<string, SpanRow>>()
  for (const row of rows) {
    if (row.kind !== 'other' || !isMessageEvent(row.name) || row.requestBody === '') continue
    const events = bySpan.get(row.parentSpanId) ?? new Map<string, SpanRow>()
    bySpan.set(row.parentSpanId, events.set(row.spanId, row))
  }
  if (bySpan.size === 0) return rows
  return rows.map((row) => {
    const events = row.kind === 'model' && row.api === semconv.api ? bySpan.get(row.spanId) : undefined
    if (events === undefined) return row
    const said = contentOfEvents(
      [...events.values()].sort(inOrder).map((event) => ({ name: event.name, fields: objectOf(event.requestBody) })),
    )
    return { ...row, requestBody: JSON.stringify({ ...said, ...objectOf(row.requestBody) }) }
  })
}

/** By time, then by id, which counts the events of a span that were sent together: clocks of senders have milliseconds. */
function inOrder(a: SpanRow, b: SpanRow): number {
  if (a.startTimeUnixNano !== b.startTimeUnixNano) return a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1
  return a.spanId < b.spanId ? -1 : 1
}

function objectOf(json: string): ForeignBody {
  return asObject(parseWellFormed(json)) ?? {}
}

function holdsContent(fields: Fields): boolean {
  const message = asObject(fields['message'])
  const calls = [fields['tool_calls'], message?.['tool_calls']].flatMap((list) => asArray(list))
  return (
    [fields['content'], message?.['content'], fields['message'], fields[genAi.legacyPrompt], fields[genAi.legacyCompletion]].some(
      (value) => value !== undefined && value !== null && asObject(value) === undefined,
    ) || calls.some((call) => asObject(asObject(call)?.['function'])?.['arguments'] !== undefined)
  )
}

function inputMessage(role: string, fields: Fields): Message {
  const { role: said, id, content, tool_calls: calls, name } = fields
  return readMessage(
    present({ role: asText(said) ?? role, name, content, tool_calls: calls, ...(role === 'tool' ? { role, tool_call_id: id } : {}) }),
  )
}

function choice(fields: Fields, index: number): Message & { finish_reason?: string; index: number } {
  const said = asObject(fields['message']) ?? { content: fields['content'] ?? fields['message'] ?? null }
  const calls = asArray(said['tool_calls']).length > 0 ? said['tool_calls'] : fields['tool_calls']
  const reason = asText(fields['finish_reason'])
  return {
    ...readMessage(
      present({ role: asText(said['role']) ?? 'assistant', content: said['content'], refusal: said['refusal'], tool_calls: calls }),
    ),
    ...(reason === undefined ? {} : { finish_reason: reason }),
    index: asNumber(fields['index']) ?? index,
  }
}

function present(fields: { [name: string]: Json | undefined }): { [name: string]: Json } {
  const said: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== null) said[name] = value
  return said
}

/** A message is JSON by its type; what is said here is that it may stand among attributes. */
function asJson(messages: readonly Message[]): Json {
  return JSON.parse(JSON.stringify(messages))
}
