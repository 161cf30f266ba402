// A message as LangChain serialises it (`{ lc: 1, type: 'constructor', id: [..., 'HumanMessage'], kwargs }`): instrumentations of LangChain send such values as they are.
import { readMessage } from '../dialects/openai-chat-messages.ts'
import type { Json, Message } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'

const roles: Readonly<Record<string, string>> = { Human: 'user', AI: 'assistant', System: 'system', Tool: 'tool', Function: 'function' }

/** Undefined where it is none. */
export function langChainMessage(value: Json | undefined): Message | undefined {
  const sent = asObject(value)
  const fields = asObject(sent?.['kwargs'])
  const kind = /^(\w+?)Message(Chunk)?$/.exec(asText(asArray(sent?.['id']).at(-1)) ?? '')?.[1]
  if (sent?.['lc'] === undefined || fields === undefined || kind === undefined) return undefined
  const calls = asArray(fields['tool_calls']).flatMap((call): Json[] => {
    const { id, name, args } = asObject(call) ?? {}
    return [
      { ...(id === undefined ? {} : { id }), type: 'function', function: { name: name ?? '', arguments: JSON.stringify(args ?? {}) } },
    ]
  })
  const answered = asText(fields['tool_call_id'])
  const message = readMessage({
    role: roles[kind] ?? asText(fields['role']) ?? 'user',
    content: fields['content'] ?? '',
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(answered === undefined ? {} : { tool_call_id: answered }),
  })
  return message
}
