// The one place where a sender's fields become a part: a type with a meaning here has the members that it needs, all other types and fields pass as they came.
import type { Json, OtherPart, Part } from './episode.ts'
import { asObject, asText } from './json.ts'

type Fields = { [key: string]: Json }

/** Never throws. Fields without a type become a part of type `unknown`; text that is none becomes the text of its JSON. */
export function partOfFields(sent: Fields): Part {
  const fields = sound(sent)
  const type = asText(fields['type']) || 'unknown'
  switch (type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { ...fields, type, content: textOf(fields['content']) }
    case 'tool_call': {
      // Null is a value, which a model may write.
      const { id, arguments: written = {}, ...rest } = fields
      return { ...rest, ...idOf(id), type, name: asText(fields['name']) ?? '', arguments: written }
    }
    case 'tool_call_response': {
      const { id, ...rest } = fields
      return { ...rest, ...idOf(id), type, response: fields['response'] ?? null }
    }
    default:
      return ownPart(type, fields)
  }
}

const meant = new Set(['text', 'reasoning', 'refusal', 'tool_call', 'tool_call_response'])

/** A part of a vendor's own type. One that is called as a part with a meaning here, and is not the vendor's word for it, has its members all the same. */
export function vendorPart(type: string, fields: Fields): Part {
  return meant.has(type) ? partOfFields({ ...fields, type }) : ownPart(type, fields)
}

/** A part of a type that is not known here, as it came: the conventions' generic part. */
export function ownPart(type: string, fields: Fields): OtherPart {
  // The literals of OtherPart name only what narrows the others: at run time it is whatever type a provider invents.
  return { ...fields, type: type as OtherPart['type'] }
}

/** Without the fields that have a meaning here and not its type. */
function sound(fields: Fields): Fields {
  const { provider, invalid, raw, ...rest } = fields
  return {
    ...rest,
    ...(asText(asObject(provider)?.['name']) === undefined ? {} : { provider: provider ?? null }),
    ...(typeof invalid === 'boolean' ? { invalid } : {}),
    ...(typeof raw === 'string' ? { raw } : {}),
  }
}

/** Other APIs number their calls. */
function idOf(id: Json | undefined): { id?: string } {
  return typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}
}

function textOf(content: Json | undefined): string {
  return typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content)
}
