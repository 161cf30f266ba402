// The text of a tool call's arguments, read once and never guessed at: no second decoding, no repair.
import type { Json } from '@homeground/sdk/trace'

export type ParsedArguments = { ok: true; value: Json } | { ok: false; text: string }

/** No text at all means `{}`: several providers send that for a tool without parameters. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, value: {} }
  try {
    const value: Json = JSON.parse(text)
    return { ok: true, value }
  } catch {
    return { ok: false, text }
  }
}

/** Arguments are an object: a string (encoded twice) or a list is the model's mistake. */
export function isArgumentObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
