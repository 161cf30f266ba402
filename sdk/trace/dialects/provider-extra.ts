// What a provider adds to a part or message beyond the canonical fields: kept under `provider`, and written back only in the dialect that it came from.
import type { Json, ProviderExtra } from '../episode.ts'

type Fields = { [key: string]: Json }

/** `{ provider }` with the fields of `source` that are not `known`; nothing where none is left. Null and empty lists say nothing and are left out. */
export function extra(api: string, source: Fields, known: readonly string[], more: Fields = {}): { provider?: ProviderExtra } {
  const rest = { ...unknownFields(source, known), ...more }
  return Object.keys(rest).length === 0 ? {} : { provider: { ...rest, name: api } }
}

/** The same of what lies one step deeper or higher: `{ [field]: { … } }`, to be put among the fields of `extra`. */
export function nestedExtra(field: string, source: Fields, known: readonly string[]): Fields {
  const rest = unknownFields(source, known)
  return Object.keys(rest).length === 0 ? {} : { [field]: rest }
}

function unknownFields(source: Fields, known: readonly string[]): Fields {
  const rest: Fields = {}
  for (const [key, value] of Object.entries(source)) {
    if (known.includes(key) || key === 'name' || value === null || (Array.isArray(value) && value.length === 0)) continue
    rest[key] = value
  }
  return rest
}

/** The fields to write back in dialect `api`; none where another provider added them. */
export function writtenExtra(api: string, holder: { provider?: ProviderExtra }): Fields {
  if (holder.provider?.name !== api) return {}
  const { name: _, ...rest } = holder.provider
  return rest
}
