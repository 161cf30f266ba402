// Content parts of a chat message: text, images, audio, files. A type that is not known stays a part of its own type.
import type { Json, OtherPart, Part } from '../episode.ts'
import { asObject, asText, textOfJson } from '../json.ts'
import { vendorPart } from '../part.ts'
import { mediaPart, mediaUrl, mimeOf, ownFields } from './media.ts'
import { extra, nestedExtra, writtenExtra } from './provider-extra.ts'

const api = 'openai.chat'
type Fields = { [key: string]: Json }

export function readContentPart(sent: Json): Part {
  if (typeof sent === 'string') return { type: 'text', content: sent }
  const part = asObject(sent) ?? {}
  const type = asText(part['type'])
  const text = asText(part['text'])
  const image = asObject(part['image_url'])
  const audio = asObject(part['input_audio'])
  const file = asObject(part['file'])
  if (type === 'text' && text !== undefined) return { type, content: text, ...extra(api, part, ['type', 'text']) }
  if (type === 'refusal') return { type, content: asText(part['refusal']) ?? '', ...extra(api, part, ['type', 'refusal']) }
  if (type === 'image_url' && image !== undefined) {
    return { ...mediaPart(asText(image['url']) ?? '', 'image'), ...mediaExtra(part, 'image_url', ['url']) }
  }
  if (type === 'input_audio' && audio !== undefined) {
    const format = asText(audio['format'])
    return {
      type: 'blob',
      modality: 'audio',
      ...(format === undefined ? {} : { mime_type: `audio/${format}` }),
      content: asText(audio['data']) ?? '',
      ...mediaExtra(part, 'input_audio', ['data', 'format']),
    }
  }
  if (type === 'file' && file !== undefined) {
    const id = asText(file['file_id'])
    if (id !== undefined) return { type: 'file', modality: 'file', file_id: id, ...mediaExtra(part, 'file', ['file_id']) }
    return { ...mediaPart(asText(file['file_data']) ?? '', 'file'), ...mediaExtra(part, 'file', ['file_data']) }
  }
  return vendorPart(type ?? 'unknown', part)
}

/** What is said inside of `field`, and under `beside` what gateways say beside it (`cache_control`). */
function mediaExtra(part: Fields, field: string, known: readonly string[]): ReturnType<typeof extra> {
  return extra(api, asObject(part[field]) ?? {}, known, nestedExtra('beside', part, ['type', field]))
}

/** The part for the wire; `undefined` for what is not content on this wire (calls, results, reasoning). */
export function writeContentPart(part: Part): Fields | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.content, ...writtenExtra(api, part) }
    case 'refusal':
      return { type: 'refusal', refusal: part.content, ...writtenExtra(api, part) }
    case 'reasoning':
    case 'tool_call':
    case 'tool_call_response':
      return undefined
    default:
      return writeMedia(part)
  }
}

function writeMedia(part: OtherPart): Fields {
  const { beside, ...kept } = writtenExtra(api, part)
  const outer = asObject(beside) ?? {}
  const url = mediaUrl(part)
  if (url === undefined) {
    if (part.type === 'file' && typeof part['file_id'] === 'string')
      return { type: 'file', file: { file_id: part['file_id'], ...kept }, ...outer }
    return { ...ownFields(part), ...kept }
  }
  if (part['modality'] === 'image') return { type: 'image_url', image_url: { url, ...kept }, ...outer }
  if (part['modality'] === 'audio' && part.type === 'blob') {
    const mime = mimeOf(part)
    const format: Fields = mime === undefined ? {} : { format: mime.replace(/^audio\//, '') }
    return { type: 'input_audio', input_audio: { data: textOfJson(part['content'] ?? ''), ...format, ...kept }, ...outer }
  }
  return { type: 'file', file: { file_data: url, ...kept }, ...outer }
}
