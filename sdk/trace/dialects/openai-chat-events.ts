// A chat completion as the events of a stream: what a server sends when it has the whole answer. The assembler gives the same body back.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'
import type { StreamEvent } from './dialect.ts'

type Fields = { [key: string]: Json }

/** Ends with `[DONE]`. Usage, where there is some, comes in a last chunk without choices, as `stream_options.include_usage` asks for. */
export function writeChatEvents(body: Json): StreamEvent[] {
  const { choices, usage, object: _, ...rest } = asObject(body) ?? {}
  const { id, created, model, ...once } = rest
  const head: Fields = { object: 'chat.completion.chunk' }
  for (const [key, value] of Object.entries({ id, created, model })) if (value !== undefined) head[key] = value
  const chunks: Fields[] = asArray(choices).flatMap((choice, place) => {
    const sent = asObject(choice) ?? {}
    const index = sent['index'] ?? place
    return choiceDeltas(sent).map((fields): Fields => ({ ...head, choices: [{ index, ...fields }] }))
  })
  if (chunks[0] === undefined) chunks.push({ ...head, choices: [] })
  Object.assign(chunks[0] ?? {}, once)
  if (usage !== undefined && usage !== null) chunks.push({ ...head, choices: [], usage })
  return [...chunks.map((chunk) => ({ data: JSON.stringify(chunk) })), { data: '[DONE]' }]
}

/** The first delta holds the role and what is not text; text comes in pieces; the finish reason, log-probabilities and the rest come last. */
function choiceDeltas(choice: Fields): Fields[] {
  const { message, index: _, finish_reason, ...last } = choice
  const { role = 'assistant', tool_calls, ...fields } = asObject(message) ?? {}
  const pieces: Fields[] = []
  const opening: Fields = { role }
  for (const [key, value] of Object.entries(fields)) {
    const text = asText(value)
    if (text === undefined || !['content', 'refusal', 'reasoning', 'reasoning_content'].includes(key)) opening[key] = value
    else for (const piece of cut(text)) pieces.push({ [key]: piece })
  }
  if (typeof fields['content'] === 'string') opening['content'] = ''
  const order = ['reasoning_content', 'reasoning', 'content', 'refusal']
  pieces.sort((a, b) => order.indexOf(Object.keys(a)[0] ?? '') - order.indexOf(Object.keys(b)[0] ?? ''))
  const calls = asArray(tool_calls).flatMap((call, index) => callDeltas(asObject(call) ?? {}, index))
  return [
    ...[opening, ...pieces, ...calls].map((delta): Fields => ({ delta, finish_reason: null })),
    { delta: {}, finish_reason: finish_reason ?? null, ...last },
  ]
}

function callDeltas(call: Fields, index: number): Fields[] {
  const kind = asObject(call['custom']) === undefined ? 'function' : 'custom'
  const field = kind === 'custom' ? 'input' : 'arguments'
  const inner = asObject(call[kind]) ?? {}
  const text = asText(inner[field]) ?? ''
  const opening = { tool_calls: [{ ...call, index, [kind]: { ...inner, [field]: '' } }] }
  return [opening, ...cut(text).map((piece) => ({ tool_calls: [{ index, [kind]: { [field]: piece } }] }))]
}

/** Pieces of a few words, never between the halves of a surrogate pair. */
function cut(text: string): string[] {
  return text.match(/[\s\S]{1,24}/gu) ?? []
}
