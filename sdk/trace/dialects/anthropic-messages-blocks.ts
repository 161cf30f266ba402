// Content blocks of Anthropic's Messages API as parts, and back. Signatures and encrypted content stay with their part, byte for byte.
import type { Json, OtherPart, Part } from '../episode.ts'
import { asArray, asObject, asText, isJson, textOfJson } from '../json.ts'
import { ownPart, vendorPart } from '../part.ts'
import { mediaPart, mediaUrl, mimeOf, ownFields } from './media.ts'
import { extra, writtenExtra } from './provider-extra.ts'

const api = 'anthropic.messages'
type Fields = { [key: string]: Json }

/** Text stands for one text block. */
export function readBlocks(content: Json | undefined): Part[] {
  const text = asText(content)
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', content: text }]
  return asArray(content).map(readBlock)
}

function readBlock(sent: Json): Part {
  const block = asObject(sent) ?? {}
  const type = asText(block['type']) ?? 'unknown'
  switch (type) {
    case 'text':
      return { type, content: asText(block['text']) ?? '', ...extra(api, block, ['type', 'text']) }
    case 'thinking':
      return {
        type: 'reasoning',
        content: asText(block['thinking']) ?? '',
        ...extra(api, withoutEmpty(block, 'signature'), ['type', 'thinking']),
      }
    case 'redacted_thinking':
      return { type: 'reasoning', content: '', ...extra(api, block, ['type'], { type }) }
    case 'tool_use':
      return {
        type: 'tool_call',
        ...idOf(block['id']),
        name: asText(block['name']) ?? '',
        // Input that was no JSON when it came stays the text that the model wrote.
        ...(typeof block['input'] === 'string' ? { arguments: block['input'], invalid: true } : { arguments: block['input'] ?? {} }),
        ...extra(api, block, ['type', 'id', 'input']),
      }
    case 'tool_result':
      return {
        type: 'tool_call_response',
        ...idOf(block['tool_use_id']),
        response: block['content'] ?? '',
        ...extra(api, block, ['type', 'tool_use_id', 'content']),
      }
    case 'image':
    case 'document':
      return readMedia(type, block)
    default:
      return vendorPart(type, block)
  }
}

/** `signed`: a request may hold only thinking that the API itself has signed; a response is written with what there is. */
export function writeBlocks(parts: readonly Part[], options: { signed: boolean }): Fields[] {
  return parts.flatMap((part): Fields[] => {
    const block = writeBlock(part, options)
    return block === undefined ? [] : [block]
  })
}

function writeBlock(part: Part, options: { signed: boolean }): Fields | undefined {
  const kept = writtenExtra(api, part)
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.content, ...kept }
    case 'refusal':
      return { type: 'text', text: part.content }
    case 'reasoning':
      if (kept['type'] === 'redacted_thinking') return kept
      if (kept['signature'] === undefined && options.signed) return undefined
      return { type: 'thinking', thinking: part.content, signature: '', ...kept }
    case 'tool_call':
      return { type: 'tool_use', id: part.id ?? '', name: part.name, input: part.arguments, ...kept }
    case 'tool_call_response':
      return { type: 'tool_result', tool_use_id: part.id ?? '', content: writeResult(part.response), ...kept }
    default:
      return writeMedia(part, kept)
  }
}

function readMedia(type: 'image' | 'document', block: Fields): Part {
  const source = asObject(block['source']) ?? {}
  const modality = type === 'image' ? 'image' : 'file'
  const kept = extra(api, block, ['type', 'source'])
  const url = asText(source['url'])
  const data = asText(source['data'])
  const id = asText(source['file_id'])
  if (source['type'] === 'url' && url !== undefined) return { ...mediaPart(url, modality), ...kept }
  if (source['type'] === 'file' && id !== undefined) return { type: 'file', modality, file_id: id, ...kept }
  if (source['type'] !== 'base64' || data === undefined) return ownPart(type, block)
  const mime = asText(source['media_type'])
  return { type: 'blob', modality, ...(mime === undefined ? {} : { mime_type: mime }), content: data, ...kept }
}

function writeMedia(part: OtherPart, kept: Fields): Fields {
  const type = part['modality'] === 'image' ? 'image' : 'document'
  const mime = mimeOf(part)
  if (part.type === 'blob') {
    const source = { type: 'base64', ...(mime === undefined ? {} : { media_type: mime }), data: textOfJson(part['content'] ?? '') }
    return { type, source, ...kept }
  }
  const url = mediaUrl(part)
  if (url !== undefined) return { type, source: { type: 'url', url }, ...kept }
  if (part.type === 'file') return { type, source: { type: 'file', file_id: textOfJson(part['file_id'] ?? '') }, ...kept }
  return ownFields(part)
}

const contentTypes = new Set(['text', 'image', 'document', 'search_result', 'tool_reference'])

/** As it was sent; a value of another origin goes out as JSON text, also a list of things that have types of their own. */
function writeResult(response: Json): Json {
  if (typeof response === 'string') return response
  const isContent =
    Array.isArray(response) && response.length > 0 && response.every((block) => contentTypes.has(asText(asObject(block)?.['type']) ?? ''))
  return isContent && isJson(response) ? response : JSON.stringify(response)
}

function idOf(sent: Json | undefined): { id?: string } {
  return sent === undefined || sent === null || sent === '' ? {} : { id: textOfJson(sent) }
}

function withoutEmpty(block: Fields, key: string): Fields {
  if (block[key] !== '') return block
  const { [key]: _, ...rest } = block
  return rest
}
