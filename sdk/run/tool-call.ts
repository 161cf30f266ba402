// A tool call as the vendors' messages have it, read into one form.
import type { Json } from '../trace/episode.ts'
import { parseJson } from '../trace/json.ts'
import { jsonValue } from './json-value.ts'

/** OpenAI chat (`{ id, function: { name, arguments } }`), Responses (`{ call_id, name, arguments }`), Anthropic (`{ id, name, input }`), or plain. */
export type ToolCallLike =
  | { id?: string; type?: string; function: { name: string; arguments: string } }
  | { call_id?: string; type?: string; name: string; arguments: string }
  | { id: string; type: 'tool_use'; name: string; input: unknown }
  | { id?: string; type?: string; name: string; arguments: unknown }
  | { id?: string; type: 'custom'; custom: { name: string; input: string } }

/** What a tool call came to. */
export interface ToolAnswer {
  callId: string | undefined
  name: string
  /** For the model: the result as text (JSON unless it is a string), or `Error: …`. */
  content: string
  /** True for bad arguments, an unknown tool, and errors of the function. */
  isError: boolean
  /** What the function gave. */
  result: unknown
}

/** `value` is undefined where the model's text is no JSON; no text at all is no arguments. */
export function readToolCall(call: ToolCallLike): { name: string; callId: string | undefined; written: string; value: Json | undefined } {
  const { name, given } = 'function' in call ? { name: call.function.name, given: call.function.arguments } : named(call)
  const callId = ('call_id' in call ? call.call_id : undefined) ?? ('id' in call ? call.id : undefined)
  if (typeof given !== 'string') return { name, callId, written: JSON.stringify(given) ?? '', value: jsonValue(given) ?? {} }
  const value = given.trim() === '' ? {} : parseJson(given)
  return { name, callId, written: given, value }
}

function named(call: Exclude<ToolCallLike, { function: unknown }>): { name: string; given: unknown } {
  if ('custom' in call) return { name: call.custom.name, given: { input: call.custom.input } }
  return { name: call.name, given: 'input' in call ? call.input : call.arguments }
}
