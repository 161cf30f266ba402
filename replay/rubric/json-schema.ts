// JSON Schema, by way of zod: the one place where a schema from a file becomes a parser.
import type { Json } from '@homeground/sdk/trace'
import { z } from 'zod'

const made = new WeakMap<object, z.ZodType>()

/** A parser for the schema; made once for each schema object. @throws Error where the schema says what zod cannot check */
export function schemaOf(schema: Json): z.ZodType {
  if (schema === true) return z.json()
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) throw new Error('a JSON Schema is an object')
  const known = made.get(schema)
  if (known) return known
  const parser = z.fromJSONSchema(schema)
  made.set(schema, parser)
  return parser
}
