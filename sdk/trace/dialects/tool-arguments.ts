// Tool-call arguments: text on the wire, a value in the canonical form. Text that is no JSON stays as it was, so that what the model really wrote is never lost.
import type { Json, ToolCallPart } from '../episode.ts'
import { asText, isJson, parseBounded, wellFormed } from '../json.ts'

type Arguments = Pick<ToolCallPart, 'arguments' | 'invalid' | 'raw'>

/** Text is parsed; no text at all is `{}`; a value that is no text (some servers send objects) is taken as it is. */
export function readArguments(sent: Json | undefined): Arguments {
  if (sent === undefined || sent === null || sent === '') return { arguments: {} }
  const text = asText(sent)
  if (text === undefined) return { arguments: sent }
  const value = parseBounded(text)
  // 1e400 is JSON, but not a number that can be kept.
  if (value === undefined || !isJson(value)) return { arguments: wellFormed(text), invalid: true }
  return losesInteger(text) ? { arguments: wellFormed(value), raw: text } : { arguments: wellFormed(value) }
}

/** The text for the wire: as the model wrote it where that is kept, else JSON. */
export function writeArguments(part: ToolCallPart): string {
  if (part.raw !== undefined) return part.raw
  if (part.invalid === true && typeof part.arguments === 'string') return part.arguments
  return JSON.stringify(part.arguments)
}

/** True where JSON text holds, outside its strings, an integer that a number cannot keep. */
function losesInteger(text: string): boolean {
  if (!/\d{16}/.test(text)) return false
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  for (const [digits] of outside.matchAll(/(?<![\d.])\d{16,}(?![\d.eE])/g)) if (String(Number(digits)) !== digits) return true
  return false
}
