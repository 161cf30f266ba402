// Images, sounds and files as parts: by URL (`uri`) or with their bytes (`blob`); the wires say both as URLs, bytes as data URLs.

import type { Json, OtherPart } from '../episode.ts'
import { textOfJson } from '../json.ts'

/** A data URL becomes a blob, any other a uri. */
export function mediaPart(url: string, modality: string): OtherPart {
  const data = /^data:([^;,]*);base64,/.exec(url)
  if (data === null) return { type: 'uri', modality, uri: url }
  const mime = data[1] ?? ''
  return { type: 'blob', modality, ...(mime === '' ? {} : { mime_type: mime }), content: url.slice(data[0].length) }
}

/** The URL of a uri or blob part; `undefined` for other parts. */
export function mediaUrl(part: OtherPart): string | undefined {
  if (part.type === 'uri') return textOfJson(part['uri'])
  if (part.type !== 'blob') return undefined
  return `data:${mimeOf(part) ?? ''};base64,${textOfJson(part['content'] ?? '')}`
}

export function mimeOf(part: OtherPart): string | undefined {
  return typeof part['mime_type'] === 'string' ? part['mime_type'] : undefined
}

/** The fields of an own part, for the wire that it came from. */
export function ownFields(part: OtherPart): { [key: string]: Json } {
  const { provider: _, ...fields } = part
  // Read from a body, so JSON it is.
  return fields as { [key: string]: Json }
}
