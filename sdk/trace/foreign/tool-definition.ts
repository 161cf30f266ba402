// A tool's definition, flat as in the GenAI conventions, from the shapes in which others send it.
import type { Json, ToolDefinition } from '../episode.ts'
import { asObject, asText } from '../json.ts'
import { parsed } from './flattened.ts'

/** From JSON text or an object: OpenAI's nested `function`, Anthropic's `input_schema`, the AI SDK's `inputSchema`. Undefined without a name. */
export function toolDefinition(value: Json | undefined): ToolDefinition | undefined {
  const sent = asObject(parsed(value))
  const { function: nested, ...outer } = sent ?? {}
  const { input_schema: anthropic, inputSchema: vercel, ...flat } = { ...outer, ...asObject(nested) }
  const name = asText(flat['name'])
  if (name === undefined) return undefined
  const parameters = parsed(flat['parameters'] ?? anthropic ?? vercel)
  return { type: 'function', ...flat, name, ...(parameters === undefined ? {} : { parameters }) }
}
