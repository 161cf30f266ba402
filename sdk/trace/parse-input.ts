// The one way in for data that someone hands us: checked by a schema, or an error that names the place and the field.
import type { z } from 'zod'
import { type ErrorCode, HomegroundError } from './error.ts'

/** Where an input came from, for the message of an error. */
export interface ParsePlace {
  /** Where the value stands: `tasks.jsonl:3`, `request body`. */
  place: string
  /** What it should be: `an episode (format 1)`. */
  what: string
  /** @default invalid-input */
  code?: ErrorCode
  /** The next action. @default mend the value at that place */
  hint?: string
}

/** @throws HomegroundError (`invalid-input` unless said otherwise): place, path of the field, what was expected */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, at: ParsePlace): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.slice(0, 3).map((issue) => {
    const path = issue.path.map(String).join('.')
    return path === '' ? issue.message : `${path}: ${issue.message}`
  })
  const more = parsed.error.issues.length - faults.length
  throw new HomegroundError(
    at.code ?? 'invalid-input',
    `${at.place}: not ${at.what}: ${faults.join('; ')}${more > 0 ? ` (and ${more} more)` : ''}`,
    { hint: at.hint ?? 'mend that field; docs/formats.md shows every format', cause: parsed.error },
  )
}
