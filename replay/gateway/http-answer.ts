// A gateway's answer as the HTTP response that a client expects: JSON, or server-sent events where it asked for a stream.
import { type Dialect, dialectOf, type Json } from '@homeground/sdk/trace'
import type { GatewayAnswer, GatewayRequest } from './types.ts'

export interface HttpAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** Vendors' clients retry by themselves; the gateway has done so already, and says that to them. */
export function httpAnswer(request: Pick<GatewayRequest, 'api' | 'body'>, answer: GatewayAnswer): HttpAnswer {
  const headers = { 'x-should-retry': 'false' }
  const dialect = dialectOf(request.api)
  if (answer.status < 300 && request.body['stream'] === true && dialect !== undefined) {
    return {
      status: answer.status,
      headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
      body: streamText(dialect, request.body, answer.body),
    }
  }
  return { status: answer.status, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(answer.body) }
}

/** An error in the words of the client's dialect. */
export function errorBody(api: string, type: string, message: string): { [key: string]: Json } {
  if (api === 'anthropic.messages') return { type: 'error', error: { type, message } }
  return { error: { message, type, param: null, code: type } }
}

function streamText(dialect: Pick<Dialect, 'api' | 'writeStream'>, asked: { [key: string]: Json }, body: { [key: string]: Json }): string {
  return dialect
    .writeStream(withoutUnaskedUsage(dialect, asked, body))
    .map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`)
    .join('')
}

/** Chat streams carry usage only where the client asked: an unasked chunk without choices breaks clients that read `choices[0]`. */
function withoutUnaskedUsage(
  dialect: Pick<Dialect, 'api'>,
  asked: { [key: string]: Json },
  body: { [key: string]: Json },
): { [key: string]: Json } {
  if (dialect.api !== 'openai.chat') return body
  const options = asked['stream_options']
  if (typeof options === 'object' && options !== null && !Array.isArray(options) && options['include_usage'] === true) return body
  const { usage: _usage, ...rest } = body
  return rest
}
