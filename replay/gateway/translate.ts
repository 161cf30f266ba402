// A request of one dialect as a request of another, and the answer back: through the canonical form, with what could not be said named.
import { type Dialect, dialectOf, type Json, type ModelResponse } from '@homeground/sdk/trace'
import { translateParameters } from './translate-parameters.ts'
import type { GatewayRequest } from './types.ts'

export interface TranslatedRequest {
  body: { [key: string]: Json }
  untranslated: string[]
}

/** What one provider added to its parts (signatures, item ids) is dropped: another would refuse it. `undefined` where the client's dialect is not known. */
export function translateRequest(request: GatewayRequest, to: Dialect): TranslatedRequest | undefined {
  const from = dialectOf(request.api)
  if (from === undefined) return undefined
  const canonical = from.readRequest(request.body)
  const { parameters, untranslated } = translateParameters(canonical.parameters, request.api, to.api)
  const body = to.writeRequest({ ...canonical, parameters }, { provider: to.provider })
  const foreign = canonical.tools.filter((tool) => tool.type !== undefined && tool.type !== 'function' && tool.type !== 'custom')
  return { body, untranslated: [...untranslated, ...foreign.map((tool) => `tool of type ${tool.type}`)] }
}

/** The endpoint's answer in the client's dialect. */
export function translateResponse(response: ModelResponse, request: GatewayRequest, model: string): { [key: string]: Json } {
  return dialectOf(request.api)?.writeResponse(response, { model }) ?? {}
}
