// Lists that were flattened into attribute names (`llm.input_messages.0.message.role`), put together again.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText, deepestValue, jsonOrText } from '../json.ts'
import type { ForeignBody } from './types.ts'

type Branch = { [key: string]: Json }

/** The values under `prefix` as a nested value: names of digits make lists, in the order of their numbers, whatever is missing between. */
export function unflattened(body: ForeignBody, prefix: string): Json {
  const root: Branch = Object.create(null)
  for (const [name, value] of Object.entries(body)) {
    if (!name.startsWith(prefix)) continue
    const keys = name.slice(prefix.length).split('.')
    if (keys.length > deepestValue) continue
    let at = root
    for (const key of keys.slice(0, -1)) {
      const next = asObject(at[key])
      if (next === undefined) at[key] = Object.create(null)
      at = next ?? asObject(at[key]) ?? at
    }
    at[keys.at(-1) ?? ''] = value
  }
  return listed(root)
}

function listed(value: Json): Json {
  const branch = asObject(value)
  if (branch === undefined) return value
  const keys = Object.keys(branch)
  if (keys.length > 0 && keys.every((key) => /^\d{1,6}$/.test(key)))
    return keys.sort((a, b) => Number(a) - Number(b)).map((key) => listed(branch[key] ?? null))
  return Object.fromEntries(keys.map((key) => [key, listed(branch[key] ?? null)]))
}

/** The objects of a list. */
export function objects(value: Json | undefined): Branch[] {
  return asArray(value)
    .map(asObject)
    .filter((item) => item !== undefined)
}

/** A value that may have been sent as JSON text. */
export function parsed(value: Json | undefined): Json | undefined {
  const text = asText(value)
  return text === undefined ? value : jsonOrText(text)
}
