// The error that a vendor's body or event tells, in any dialect.
import type { Json } from '../episode.ts'
import { asObject, asText, textOfJson } from '../json.ts'

/** Its code, else its type, else `otherwise`; a bare text is the message. `undefined` where no error is told. */
export function toldError(error: Json | undefined, otherwise = 'error'): { type: string; message: string } | undefined {
  if (isBlank(error)) return undefined
  const fields = asObject(error) ?? {}
  const type = [fields['code'], fields['type']].find((value) => !isBlank(value)) ?? otherwise
  return { type: textOfJson(type), message: asText(fields['message']) ?? asText(error) ?? '' }
}

function isBlank(value: Json | undefined): value is null | '' | 0 | false | undefined {
  return value === undefined || value === null || value === '' || value === 0 || value === false
}
