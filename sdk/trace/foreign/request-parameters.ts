// Parameters of a request by the conventions' names, which most instrumentations write beside their own.
import type { Json } from '../episode.ts'
import type { ForeignBody } from './types.ts'

/** What a body must keep for it. */
export const requestPrefix = 'gen_ai.request.'

/** `gen_ai.request.temperature` is `temperature`; the model has a column of its own. */
export function requestParameters(body: ForeignBody): Record<string, Json> {
  const found = Object.entries(body).filter(([name]) => name.startsWith(requestPrefix) && name !== `${requestPrefix}model`)
  return Object.fromEntries(found.map(([name, value]) => [name.slice(requestPrefix.length), value]))
}
