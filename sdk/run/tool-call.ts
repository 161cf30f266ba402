// A tool call as the vendors' messages have it, read into one form.
import type { Json } from '../trace/episode.ts'
import { parseJson } from '../trace/json.ts'
import { jsonText, jsonValue, wholeValue } from './json-value.ts'

/** OpenAI chat (`{ id, function: { name, arguments } }`), Responses (`{ call_id, name, arguments }`), Anthropic (`{ id, name, input }`), or plain. */
export type ToolCallLike =
  | { id?: string; type?: string; function: { name: string; arguments: string } }
  | { call_id?: string; type?: string; name: string; arguments: string }
  | { id: string; type: 'tool_use'; name: string; input: unknown }
  | { id?: string; type?: string; name: string; arguments: unknown }
  | { id?: string; type: 'custom'; custom: { name: string; input: string } }
  | { id?: string; call_id: string; type: 'custom_tool_call'; name: string; input: string }

/** What a tool call came to. */
export interface ToolAnswer {
  callId: string | undefined
  name: string
  /** For the model: the result as text (JSON unless it is a string), or `Error: …`. */
  content: string
  /** True for bad arguments, an unknown tool, and errors of the function. */
  isError: boolean
  /** What the function gave; of a generator or a stream what it came to: what it returned, or all that it yielded (text joined). */
  result: unknown
}

/** A call that was read. `value` is undefined where the model's text is no JSON; no text at all is no arguments. */
interface ReadCall {
  name: string
  callId: string | undefined
  written: string
  value: Json | undefined
}

/** Never throws: what has none of the forms is a call of a tool without a name. */
export function readToolCall(call: ToolCallLike): ReadCall {
  try {
    const { name, given } = named(call)
    const callId = ('call_id' in call ? call.call_id : undefined) ?? ('id' in call ? call.id : undefined)
    if (typeof given !== 'string') return { name, callId, written: '', value: wholeValue(given) ?? {} }
    const value = given.trim() === '' ? {} : parseJson(given)
    return { name, callId, written: given, value }
  } catch {
    return { name: '', callId: undefined, written: jsonText(call) ?? '', value: jsonValue(call) }
  }
}

function named(call: ToolCallLike): { name: string; given: unknown } {
  if ('function' in call) return { name: String(call.function.name), given: call.function.arguments }
  // The text of a custom tool, which need be no JSON, is the one member of its arguments.
  if ('custom' in call) return { name: String(call.custom.name), given: { input: call.custom.input } }
  if (call.type === 'custom_tool_call' && 'input' in call) return { name: String(call.name), given: { input: call.input } }
  return { name: String(call.name), given: 'input' in call ? call.input : call.arguments }
}
