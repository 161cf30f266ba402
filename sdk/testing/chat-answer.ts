// A test's answer in the wire form of OpenAI's chat completions, whole and as the chunks of a stream.
import type { ModelMessage, PlainAnswer } from './types.ts'

/** Counters that make ids: the same script gives the same bytes. */
export interface AnswerStyle {
  answers: number
  calls: number
}

interface ChatBody {
  id: string
  object: string
  created: number
  model: string
  choices: ChatChoice[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

interface ChatChoice {
  index: number
  message: { role: 'assistant'; content: string | null; refusal: null; reasoning_content?: string; tool_calls?: ChatToolCall[] }
  logprobs: null
  finish_reason: string
}

interface ChatToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** The unstreamed body. Arguments that are a string are sent as they are, so that a test can send bad JSON. */
export function chatAnswerBody(answer: PlainAnswer, request: { readonly [key: string]: unknown }, style: AnswerStyle): ChatBody {
  style.answers += 1
  const messages = typeof answer === 'object' && 'choices' in answer ? answer.choices : [answer]
  const choices = messages.map((message, index) => choice(typeof message === 'string' ? { content: message } : message, index, style))
  const given = typeof answer === 'object' ? answer.usage : undefined
  const prompt = given?.inputTokens ?? tokensOf(JSON.stringify(request['messages'] ?? ''))
  const completion =
    given?.outputTokens ??
    tokensOf(
      choices
        .map(
          (each) => (each.message.tool_calls === undefined ? '' : JSON.stringify(each.message.tool_calls)) + (each.message.content ?? ''),
        )
        .join(''),
    )
  return {
    id: `chatcmpl-${style.answers}`,
    object: 'chat.completion',
    created: 1764547200,
    model: typeof request['model'] === 'string' ? request['model'] : 'test-model',
    choices,
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  }
}

/** The `data:` payloads of the stream that gives this body, without the closing `[DONE]`. */
export function chatAnswerEvents(body: ChatBody, request: { readonly [key: string]: unknown }): string[] {
  const { choices, usage, ...head } = body
  const chunk = (index: number, delta: object, finish: string | null = null): string =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index, delta, logprobs: null, finish_reason: finish }] })
  const events: string[] = []
  for (const { index, message, finish_reason: finish } of choices) {
    events.push(chunk(index, { role: 'assistant', content: message.content === null ? null : '', refusal: null }))
    for (const piece of pieces(message.reasoning_content ?? '')) events.push(chunk(index, { reasoning_content: piece }))
    for (const piece of pieces(message.content ?? '')) events.push(chunk(index, { content: piece }))
    for (const [position, call] of (message.tool_calls ?? []).entries()) {
      events.push(
        chunk(index, {
          tool_calls: [{ index: position, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }],
        }),
      )
      for (const piece of pieces(call.function.arguments))
        events.push(chunk(index, { tool_calls: [{ index: position, function: { arguments: piece } }] }))
    }
    events.push(chunk(index, {}, finish))
  }
  const options = request['stream_options']
  if (typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true) {
    events.push(JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage }))
  }
  return events
}

function choice(message: ModelMessage, index: number, style: AnswerStyle): ChatChoice {
  const calls = (message.toolCalls ?? []).map((call): ChatToolCall => {
    style.calls += 1
    return {
      id: call.id ?? `call_${style.calls}`,
      type: 'function',
      function: { name: call.name, arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments) },
    }
  })
  return {
    index,
    message: {
      role: 'assistant',
      content: message.content ?? null,
      refusal: null,
      ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    logprobs: null,
    finish_reason: message.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
  }
}

/** Words with the white space before them: about what a tokenizer gives. */
function pieces(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? []
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}
