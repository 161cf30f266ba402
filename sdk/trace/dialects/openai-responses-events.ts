// A response as the events of a stream: what a server sends when it has the whole answer.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'
import type { StreamEvent } from './dialect.ts'

type Fields = { [key: string]: Json }

/** Ends with the terminal event of the response's status, which holds the response whole. */
export function writeResponsesEvents(body: Json): StreamEvent[] {
  const response = asObject(body) ?? {}
  const events: StreamEvent[] = []
  const send = (type: string, fields: Fields) => {
    events.push({ event: type, data: JSON.stringify({ type, sequence_number: events.length, ...fields }) })
  }
  const { usage: _, ...opening } = response
  const begun = { ...opening, status: 'in_progress', output: [] }
  send('response.created', { response: begun })
  send('response.in_progress', { response: begun })
  for (const [output_index, sent] of asArray(response['output']).entries()) {
    const item = asObject(sent) ?? {}
    send('response.output_item.added', { output_index, item: emptied(item) })
    for (const delta of deltasOf(item)) send(delta.type, { item_id: item['id'] ?? '', output_index, ...delta.fields })
    send('response.output_item.done', { output_index, item })
  }
  const status = asText(response['status'])
  send(status === 'failed' || status === 'incomplete' ? `response.${status}` : 'response.completed', { response })
  return events
}

interface Delta {
  type: string
  fields: Fields
}

function deltasOf(item: Fields): Delta[] {
  const type = asText(item['type'])
  if (type === 'function_call') return textDeltas('response.function_call_arguments', item['arguments'], {}, 'arguments')
  if (type === 'custom_tool_call') return textDeltas('response.custom_tool_call_input', item['input'], {}, 'input')
  if (type === 'message')
    return asArray(item['content']).flatMap((part, content_index) => contentDeltas(asObject(part) ?? {}, content_index))
  if (type !== 'reasoning') return []
  return asArray(item['summary']).flatMap((part, summary_index) => {
    const text = asText(asObject(part)?.['text']) ?? ''
    return [
      { type: 'response.reasoning_summary_part.added', fields: { summary_index, part: { type: 'summary_text', text: '' } } },
      ...textDeltas('response.reasoning_summary_text', text, { summary_index }, 'text'),
      { type: 'response.reasoning_summary_part.done', fields: { summary_index, part } },
    ]
  })
}

function contentDeltas(part: Fields, content_index: number): Delta[] {
  const field = asText(part['type']) === 'refusal' ? 'refusal' : 'text'
  const name = field === 'refusal' ? 'response.refusal' : 'response.output_text'
  return [
    { type: 'response.content_part.added', fields: { content_index, part: { ...part, [field]: '' } } },
    ...textDeltas(name, part[field], { content_index }, field),
    { type: 'response.content_part.done', fields: { content_index, part } },
  ]
}

function textDeltas(name: string, sent: Json | undefined, place: Fields, field: string): Delta[] {
  const text = asText(sent) ?? ''
  const pieces = text.match(/[\s\S]{1,24}/gu) ?? []
  return [
    ...pieces.map((delta): Delta => ({ type: `${name}.delta`, fields: { ...place, delta } })),
    { type: `${name}.done`, fields: { ...place, [field]: text } },
  ]
}

/** The item as it is announced, before its deltas. */
function emptied(item: Fields): Fields {
  const type = asText(item['type'])
  const open = { ...item, status: 'in_progress' }
  if (type === 'message') return { ...open, content: [] }
  if (type === 'function_call') return { ...open, arguments: '' }
  if (type === 'custom_tool_call') return { ...open, input: '' }
  return type === 'reasoning' ? { ...item, summary: [] } : item
}
