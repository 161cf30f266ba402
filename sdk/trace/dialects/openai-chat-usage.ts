// Where a chat body says what it cost. Read laxly: other wires have it in the first of the places.
import type { Json } from '../episode.ts'
import { asArray, asObject } from '../json.ts'

type Fields = { [key: string]: Json }

/** `usage`; a stream of Groq's has it under `x_groq`, one of Moonshot's with the choice. */
export function chatUsage(response: Fields): Fields | undefined {
  return (
    asObject(response['usage']) ??
    asObject(asObject(response['x_groq'])?.['usage']) ??
    asObject(asObject(asArray(response['choices'])[0])?.['usage'])
  )
}
