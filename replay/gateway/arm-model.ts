// An arm's model under the product's client: its own name and parameters are put in, the client's dialect is spoken to the client and the endpoint's to the endpoint.
import { asObject, dialectOf, HomegroundError, type Json, parseJson } from '@homeground/sdk/trace'
import type { Arm } from '../run/types.ts'
import { type EndpointDeps, endpointOf, post } from './endpoint.ts'
import { errorBody } from './http-answer.ts'
import type { GatewayAnswer, GatewayRequest, ModelSource } from './types.ts'

/** @throws HomegroundError invalid-settings: the arm names a key that is not set, or a dialect that nobody reads */
export function armModel(arm: Arm, deps: EndpointDeps): ModelSource {
  const endpoint = endpointOf(arm, deps.env)
  const spoken = arm.api ?? 'openai.chat'
  const dialect = dialectOf(spoken)
  if (dialect === undefined) {
    throw new HomegroundError('invalid-settings', `arm ${arm.name}: there is no dialect ${spoken}`, {
      hint: 'use openai.chat, openai.responses or anthropic.messages',
    })
  }
  return {
    async answer(request) {
      const base = { provider: dialect.provider, model: arm.model, untranslated: [] }
      if (request.api !== spoken) {
        const message = `the product speaks ${request.api}, the endpoint of arm ${arm.name} speaks ${spoken}`
        return { ...base, status: 400, attempts: 0, body: errorBody(request.api, 'untranslatable', message) }
      }
      const sent = await post(endpoint, endpointBody(request.body, arm), deps, request.signal)
      const { status, attempts } = sent
      if (sent.failure !== undefined) {
        const message = `${endpoint.url} did not answer: ${sent.failure.message}`
        return { ...base, status, attempts, body: errorBody(request.api, sent.failure.type, message) }
      }
      return { ...base, ...answerOf(request, sent.text, status, dialect.readResponse), attempts }
    },
  }
}

/** The client's body with the arm's model and parameters; `null` takes a parameter out. The endpoint is asked for the whole answer at once. */
export function endpointBody(body: GatewayRequest['body'], arm: Arm): { [key: string]: Json } {
  const { stream: _stream, stream_options: _options, ...asked } = body
  const sent: { [key: string]: Json } = { ...asked, model: arm.model }
  for (const [name, value] of Object.entries(arm.parameters ?? {})) {
    if (value === null) delete sent[name]
    else sent[name] = value
  }
  return sent
}

function answerOf(
  request: GatewayRequest,
  text: string,
  status: number,
  read: (body: Json) => GatewayAnswer['response'],
): Pick<GatewayAnswer, 'status' | 'body' | 'response'> {
  const body = asObject(parseJson(text))
  if (status >= 300) return { status, body: body ?? errorBody(request.api, String(status), text.slice(0, 500)) }
  const response = body === undefined ? undefined : read(body)
  if (body === undefined || response === undefined) {
    return {
      status: 502,
      body: errorBody(
        request.api,
        'invalid-response',
        `the endpoint answered with what is no ${request.api} response: ${text.slice(0, 200)}`,
      ),
    }
  }
  return { status, body, response }
}
