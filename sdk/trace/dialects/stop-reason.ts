// Why a Responses answer stopped: the wire has a status, not a reason.
import type { Json } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'

type Fields = { [key: string]: Json }

/** Items by which the model hands the turn to the product; of its own tools (web search, code, MCP) the provider has the result already. */
const handing = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'mcp_approval_request',
])

/** Of a completed response `completed` or `tool_calls`, of an incomplete one what made it so; `undefined` where it did not come to its end. */
export function stopReasonOf(response: Fields): string | undefined {
  const status = asText(response['status'])
  if (status === 'completed') return handsTurn(asArray(response['output'])) ? 'tool_calls' : status
  if (status !== 'incomplete') return undefined
  return asText(asObject(response['incomplete_details'])?.['reason']) ?? 'max_output_tokens'
}

/** A shell of the provider's answers in the same response. */
function handsTurn(output: readonly Json[]): boolean {
  const items = output.map((item) => asObject(item) ?? {})
  const answered = new Set(items.filter(({ type }) => asText(type)?.endsWith('_output')).map((item) => item['call_id']))
  return items.some(({ type, call_id: id }) => handing.has(asText(type) ?? '') && (id === undefined || !answered.has(id)))
}
