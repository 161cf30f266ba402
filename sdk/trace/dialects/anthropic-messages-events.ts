// A message as the events of a stream: what a server sends when it has the whole answer.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'
import type { StreamEvent } from './dialect.ts'

type Fields = { [key: string]: Json }

/** `message_start` with the input's usage, each block, then why it stopped and the output's usage. */
export function writeMessagesEvents(body: Json): StreamEvent[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = asObject(body) ?? {}
  const events: StreamEvent[] = []
  const send = (type: string, fields: Fields) => events.push({ event: type, data: JSON.stringify({ type, ...fields }) })
  const tokens = asObject(usage) ?? {}
  const opening = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(usage === undefined ? {} : { usage: { ...tokens, ...(tokens['output_tokens'] === undefined ? {} : { output_tokens: 1 }) } }),
  }
  send('message_start', { message: opening })
  for (const [index, sent] of asArray(content).entries()) {
    const block = asObject(sent) ?? {}
    send('content_block_start', { index, content_block: emptied(block) })
    for (const delta of deltasOf(block)) send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  }
  send('message_delta', {
    delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
    ...(usage === undefined ? {} : { usage: tokens }),
  })
  send('message_stop', {})
  return events
}

function emptied(block: Fields): Fields {
  switch (asText(block['type'])) {
    case 'text': {
      const { citations: _, ...rest } = block
      return { ...rest, text: '' }
    }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'tool_use':
    case 'server_tool_use':
      return { ...block, input: {} }
    default:
      return block
  }
}

function deltasOf(block: Fields): Fields[] {
  switch (asText(block['type'])) {
    case 'text':
      return [
        ...cut(block['text']).map((text): Fields => ({ type: 'text_delta', text })),
        ...asArray(block['citations']).map((citation): Fields => ({ type: 'citations_delta', citation })),
      ]
    case 'thinking': {
      const signature = asText(block['signature']) ?? ''
      const signed: Fields[] = signature === '' ? [] : [{ type: 'signature_delta', signature }]
      return [...cut(block['thinking']).map((thinking): Fields => ({ type: 'thinking_delta', thinking })), ...signed]
    }
    case 'tool_use':
    case 'server_tool_use': {
      // Text is what the model wrote when it wrote no JSON.
      const input = block['input'] ?? {}
      return cut(typeof input === 'string' ? input : JSON.stringify(input)).map(
        (partial_json): Fields => ({ type: 'input_json_delta', partial_json }),
      )
    }
    default:
      return []
  }
}

/** Pieces of a few words, never between the halves of a surrogate pair. */
function cut(text: Json | undefined): string[] {
  return asText(text)?.match(/[\s\S]{1,24}/gu) ?? []
}
