// Parameters of a request by the conventions' names, which most instrumentations write beside their own.
import type { Json } from '../episode.ts'
import { put } from '../span-attributes.ts'
import type { ForeignBody } from './types.ts'

/** What a body must keep for it: the conventions' own, and those of OpenAI's alone, which were under `gen_ai.` before they had a name of their own. */
export const requestPrefixes: readonly string[] = ['gen_ai.request.', 'gen_ai.openai.request.', 'openai.request.']

/** `gen_ai.request.temperature` is `temperature`; the model has a column of its own. */
export function requestParameters(body: ForeignBody): Record<string, Json> {
  const found: Record<string, Json> = {}
  for (const [name, value] of Object.entries(body)) {
    const prefix = requestPrefixes.find((prefix) => name.startsWith(prefix))
    if (prefix !== undefined && name !== `${prefix}model`) put(found, name.slice(prefix.length), value)
  }
  return found
}
