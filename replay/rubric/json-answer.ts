// Reads JSON out of a model's answer, and values out of the JSON.

import type { Json } from '@homeground/sdk/trace'
import { z } from 'zod'
import { unfenced } from './unfenced.ts'

const jsonSchema = z.json()

/** The answer as a JSON value: what is no string already is one; text is parsed, also where a Markdown fence surrounds it. `undefined` where it is no JSON. */
export function parseAnswer(answer: Json): Json | undefined {
  if (typeof answer !== 'string') return answer
  try {
    const value: unknown = JSON.parse(unfenced(answer))
    return jsonSchema.parse(value)
  } catch {
    return undefined
  }
}

/** The value at a path of member names and indexes joined by dots: `items.0.id`. */
export function valueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value
  for (const name of path.split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined
    at = Array.isArray(at) ? at[Number(name)] : at[name]
  }
  return at
}
