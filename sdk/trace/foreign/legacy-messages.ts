// `gen_ai.prompt` and `gen_ai.completion` (conventions before v1.28, and LangSmith's exporter since): a whole conversation as one JSON text, in no shape that was ever said.
import { readMessage } from '../dialects/openai-chat-messages.ts'
import type { Json, Message } from '../episode.ts'
import { asArray, asObject, asText } from '../json.ts'
import { parsed } from './flattened.ts'
import { langChainMessage } from './langchain-message.ts'

/** A list of messages, an object that holds one, a choice, or plain text of the role. */
export function legacyMessages(value: Json | undefined, role: 'user' | 'assistant'): Message[] {
  const sent = parsed(value)
  if (sent === undefined || sent === null || sent === '') return []
  if (Array.isArray(sent)) return sent.flatMap((item) => legacyMessages(item, role))
  const object = asObject(sent)
  if (object === undefined) return [{ role, parts: [{ type: 'text', content: typeof sent === 'string' ? sent : JSON.stringify(sent) }] }]
  const inner = object['messages'] ?? object['choices'] ?? object['generations'] ?? object['message']
  if (inner !== undefined && (typeof inner === 'object' || object['role'] === undefined)) return legacyMessages(inner, role)
  const fromLangChain = langChainMessage(object)
  if (fromLangChain !== undefined) return [fromLangChain]
  if (asText(object['content']) !== undefined || asArray(object['content']).length > 0 || object['role'] !== undefined)
    return [readMessage({ ...object, role: asText(object['role']) ?? role })]
  return [{ role, parts: [{ type: 'text', content: JSON.stringify(object) }] }]
}
