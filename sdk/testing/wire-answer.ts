// A test's answer on the wire of the dialect that it was asked in: the unstreamed body, and the events of a stream.
import type { Dialect, StreamEvent } from '../trace/dialects/dialect.ts'
import type { Json, ModelResponse, Part } from '../trace/episode.ts'
import { finishReason } from '../trace/finish-reason.ts'
import { parseJson } from '../trace/json.ts'
import { type AnswerStyle, chatAnswerBody, chatAnswerEvents } from './chat-answer.ts'
import type { ErrorAnswer, ModelMessage, PlainAnswer, RecordedRequest } from './types.ts'

export interface WireAnswer {
  body: object
  events(): StreamEvent[]
}

/** Ids are counted by `style`: the same script gives the same bytes. */
export function wireAnswer(dialect: Dialect, answer: PlainAnswer, request: RecordedRequest, style: AnswerStyle): WireAnswer {
  if (dialect.api === 'openai.chat') {
    const body = chatAnswerBody(answer, request.body, style)
    return { body, events: () => [...chatAnswerEvents(body, request.body), '[DONE]'].map((data) => ({ data })) }
  }
  const model = request.body['model']
  const written = dialect.writeResponse(responseOf(dialect, answer, request, style), {
    model: typeof model === 'string' ? model : 'test-model',
  })
  const body = dialect.api === 'openai.responses' ? { ...responseHead, ...written } : written
  return { body, events: () => dialect.writeStream(body) }
}

/** The error body that the vendor's client reads its message from. */
export function wireError(dialect: Dialect, { error, message = `the test asked for ${error}` }: ErrorAnswer): object {
  const type = errorTypes[error] ?? (error >= 500 ? 'api_error' : 'invalid_request_error')
  return dialect.api === 'anthropic.messages' ? { type: 'error', error: { type, message } } : { error: { message, type, code: type } }
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** What a response of the Responses API has beside the model's answer. */
const responseHead = {
  created_at: 1764547200,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
}

function responseOf(dialect: Dialect, answer: PlainAnswer, request: RecordedRequest, style: AnswerStyle): ModelResponse {
  style.answers += 1
  const [first = ''] = typeof answer === 'object' && 'choices' in answer ? answer.choices : [answer]
  const message = typeof first === 'string' ? { content: first } : first
  const parts = partsOf(dialect, message, style)
  const usage = typeof answer === 'object' ? answer.usage : undefined
  const said = message.finishReason ?? (parts.some((part) => part.type === 'tool_call') ? 'tool_calls' : 'stop')
  return {
    id: `${dialect.api === 'anthropic.messages' ? 'msg' : 'resp'}_${style.answers}`,
    outputs: [{ role: 'assistant', parts }],
    finishReasons: [finishReason(said)],
    usage: {
      inputTokens: usage?.inputTokens ?? tokensOf(JSON.stringify(request.messages)),
      outputTokens: usage?.outputTokens ?? tokensOf(JSON.stringify(parts)),
    },
  }
}

function partsOf(dialect: Dialect, { content, reasoning, toolCalls = [] }: ModelMessage, style: AnswerStyle): Part[] {
  const calls = toolCalls.map((call): Part => {
    style.calls += 1
    const id = call.id ?? `${dialect.api === 'anthropic.messages' ? 'toolu' : 'call'}_${style.calls}`
    return { type: 'tool_call', id, name: call.name, ...argumentsOf(call.arguments) }
  })
  return [
    // Anthropic's clients want a signature beside what was thought.
    ...(reasoning === undefined
      ? []
      : [{ type: 'reasoning' as const, content: reasoning, provider: { name: dialect.api, signature: 'dGVzdA==' } }]),
    ...(content === undefined || content === null || content === '' ? [] : [{ type: 'text' as const, content }]),
    ...calls,
  ]
}

/** Text is what the model wrote: where it is no JSON, the wire gets it as it is. */
function argumentsOf(given: Json): { arguments: Json; invalid?: true } {
  if (typeof given !== 'string') return { arguments: given }
  const value = parseJson(given)
  return value === undefined ? { arguments: given, invalid: true } : { arguments: value }
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}
