// Content parts of the Responses API: text, refusals, images and files, in what is sent (`input_…`) and in what the model says (`output_…`).
import type { Json, Part } from '../episode.ts'
import { asObject, asText, textOfJson } from '../json.ts'
import { vendorPart } from '../part.ts'
import { mediaPart, mediaUrl, ownFields } from './media.ts'
import { extra, writtenExtra } from './provider-extra.ts'

const api = 'openai.responses'
type Fields = { [key: string]: Json }

export function readResponsesContent(sent: Json): Part {
  if (typeof sent === 'string') return { type: 'text', content: sent }
  const part = asObject(sent) ?? {}
  const type = asText(part['type'])
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return { type: 'text', content: asText(part['text']) ?? '', ...extra(api, part, ['type', 'text']) }
  }
  if (type === 'refusal') return { type, content: asText(part['refusal']) ?? '', ...extra(api, part, ['type', 'refusal']) }
  if (type === 'input_image' || type === 'input_file') {
    const modality = type === 'input_image' ? 'image' : 'file'
    const url = asText(part['image_url']) ?? asText(part['file_data']) ?? asText(part['file_url'])
    const known = ['type', 'image_url', 'file_data', 'file_url', 'file_id']
    if (url !== undefined) return { ...mediaPart(url, modality), ...extra(api, part, known) }
    const id = asText(part['file_id'])
    if (id !== undefined) return { type: 'file', modality, file_id: id, ...extra(api, part, known) }
  }
  return vendorPart(type ?? 'unknown', part)
}

/** Parts for the wire; `undefined` for what is an item of its own there (reasoning, calls, results). */
export function writeResponsesContent(part: Part, side: 'input' | 'output'): Fields[] | undefined {
  const { id: _id, phase: _phase, ...kept } = writtenExtra(api, part)
  switch (part.type) {
    case 'text':
      return side === 'input'
        ? [{ type: 'input_text', text: part.content, ...kept }]
        : [{ type: 'output_text', text: part.content, annotations: [], ...kept }]
    case 'refusal':
      return side === 'input'
        ? [{ type: 'input_text', text: part.content, ...kept }]
        : [{ type: 'refusal', refusal: part.content, ...kept }]
    case 'reasoning':
    case 'tool_call':
    case 'tool_call_response':
      return undefined
    case 'uri':
    case 'blob':
    case 'file': {
      const image = part['modality'] === 'image'
      const type = image ? 'input_image' : 'input_file'
      const url = mediaUrl(part)
      if (url === undefined) return [{ type, file_id: textOfJson(part['file_id'] ?? ''), ...kept }]
      const field = image ? 'image_url' : part.type === 'blob' ? 'file_data' : 'file_url'
      return [{ type, [field]: url, ...kept }]
    }
    default:
      // Own parts of a model are items, not content.
      return side === 'output' ? undefined : [ownFields(part)]
  }
}
