// An arm's model under the product's client: its own name and parameters are put in, the client's dialect is spoken to the client and the endpoint's to the endpoint.
import { asObject, asText, dialectOf, HomegroundError, type Json, parseJson } from '@homeground/sdk/trace'
import type { Arm } from '../run/types.ts'
import type { AnswerCache } from './answer-cache.ts'
import type { ArmGate } from './arm-gate.ts'
import { bodyWriter } from './body-text.ts'
import { type EndpointDeps, type EndpointResponse, endpointOf, post } from './endpoint.ts'
import { errorBody } from './http-answer.ts'
import { translateRequest, translateResponse } from './translate.ts'
import type { GatewayAnswer, GatewayRequest, ModelSource } from './types.ts'

export interface ArmModelOptions {
  /** What all rollouts of the arm share. */
  gate?: ArmGate | undefined
  cache?: AnswerCache | undefined
  /** A request begins to wait for its turn, or because the endpoint said so; what it gives is called when the waiting is over. */
  onWait?(): () => void
  /** A request is tried again, since the endpoint refused it or did not answer: in words. */
  onRetry?(trouble: string): void
}

/** @throws HomegroundError invalid-settings: the arm names a key that is not set, or a dialect that nobody reads */
export function armModel(arm: Arm, deps: EndpointDeps, { gate, cache, onWait, onRetry }: ArmModelOptions = {}): ModelSource {
  const endpoint = endpointOf(arm, deps.env)
  const spoken = arm.api ?? 'openai.chat'
  const dialect = dialectOf(spoken)
  if (dialect === undefined) {
    throw new HomegroundError('invalid-settings', `arm ${arm.name}: there is no dialect ${spoken}`, {
      hint: 'use openai.chat, openai.responses or anthropic.messages',
    })
  }
  const bodyText = bodyWriter()
  return {
    async answer(request) {
      const same = request.api === spoken
      const translated = same ? { body: request.body, untranslated: [] } : translateRequest(request, dialect)
      const base = { provider: dialect.provider, model: arm.model, untranslated: translated?.untranslated ?? [] }
      if (translated === undefined) {
        const message = `the product speaks ${request.api}, which cannot be translated to ${spoken} of arm ${arm.name}`
        return { ...base, status: 400, attempts: 0, body: errorBody(request.api, 'untranslatable', message) }
      }
      const text = bodyText(endpointBody(translated.body, arm))
      const kept = cache?.find(endpoint.url, text)
      const sent: EndpointResponse =
        kept?.text === undefined
          ? await post(endpoint, text, deps, {
              ...{ gate, onWait, signal: request.signal },
              onRetry: (answer) => onRetry?.(noAnswer(endpoint.url, answer)),
            })
          : { status: 200, text: kept.text, attempts: 1 }
      const { status, attempts } = sent
      if (sent.failure !== undefined) {
        return { ...base, status, attempts, body: errorBody(request.api, sent.failure.type, noAnswer(endpoint.url, sent)) }
      }
      const answer = answerOf(spoken, sent.text, status, dialect.readResponse)
      if (answer.response !== undefined && kept?.text === undefined) kept?.keep(sent.text)
      const tokens = answer.response === undefined ? undefined : dialect.readTokens?.(answer.body)
      return {
        ...base,
        attempts,
        ...(kept?.text === undefined ? {} : { cached: true }),
        ...(same ? answer : inClientsWords(answer, request, arm.model)),
        ...(tokens === undefined ? {} : { tokens }),
      }
    },
  }
}

function noAnswer(url: string, { failure, status, text }: EndpointResponse): string {
  return failure === undefined ? `${url} answered ${status}: ${text.slice(0, 300)}` : `${url} did not answer: ${failure.message}`
}

function inClientsWords(answer: Answer, request: GatewayRequest, model: string): Answer {
  if (answer.response !== undefined) return { ...answer, body: translateResponse(answer.response, request, model) }
  const error = asObject(answer.body['error'])
  const message = asText(error?.['message']) ?? JSON.stringify(answer.body).slice(0, 500)
  return { ...answer, body: errorBody(request.api, asText(error?.['type']) ?? String(answer.status), message) }
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

type Answer = Pick<GatewayAnswer, 'status' | 'body' | 'response'>

function answerOf(api: string, text: string, status: number, read: (body: Json) => GatewayAnswer['response']): Answer {
  const body = asObject(parseJson(text))
  if (status >= 300) return { status, body: body ?? errorBody(api, String(status), text.slice(0, 500)) }
  const response = body === undefined ? undefined : read(body)
  if (body === undefined || response === undefined) {
    return {
      status: 502,
      body: errorBody(api, 'invalid-response', `the endpoint answered with what is no ${api} response: ${text.slice(0, 200)}`),
    }
  }
  return { status, body, response }
}
