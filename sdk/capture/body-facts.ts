// The few facts that a span says beside the bodies, read laxly from any of the dialects: for other backends, and for finding a call without opening its body.

import type { RequestedCall } from '../run/model-turn.ts'
import { genAi } from '../trace/attributes.ts'
import { chatUsage } from '../trace/dialects/openai-chat-usage.ts'
import { stopReasonOf } from '../trace/dialects/stop-reason.ts'
import type { Json } from '../trace/episode.ts'
import { asArray, asObject, asText, parseJson, textOfJson } from '../trace/json.ts'
import type { Attributes } from '../trace/span.ts'

type Fields = { [key: string]: Json }

const requestNumbers: readonly [attribute: string, ...fields: string[]][] = [
  [genAi.requestTemperature, 'temperature'],
  [genAi.requestTopP, 'top_p'],
  [genAi.requestTopK, 'top_k'],
  [genAi.requestMaxTokens, 'max_completion_tokens', 'max_output_tokens', 'max_tokens'],
  [genAi.requestFrequencyPenalty, 'frequency_penalty'],
  [genAi.requestPresencePenalty, 'presence_penalty'],
  [genAi.requestSeed, 'seed'],
  [genAi.requestChoiceCount, 'n'],
]

/** `gen_ai.request.*`. */
export function addRequestFacts(attributes: Attributes, body: Fields): void {
  const model = asText(body['model'])
  if (model !== undefined) attributes[genAi.requestModel] = model
  for (const [attribute, ...fields] of requestNumbers) {
    const field = fields.find((each) => typeof body[each] === 'number')
    const value = field === undefined ? undefined : body[field]
    if (value !== undefined && !(attribute === genAi.requestChoiceCount && value === 1)) attributes[attribute] = value
  }
  const stop = body['stop'] ?? body['stop_sequences']
  const sequences = (typeof stop === 'string' ? [stop] : asArray(stop)).filter((each) => typeof each === 'string')
  if (sequences.length > 0) attributes[genAi.requestStopSequences] = sequences
}

/** `gen_ai.response.*` and `gen_ai.usage.*`. Input tokens include cached ones in every dialect. */
export function addResponseFacts(attributes: Attributes, body: Fields): void {
  const id = asText(body['id'])
  if (id !== undefined && id !== '') attributes[genAi.responseId] = id
  const model = asText(body['model'])
  if (model !== undefined && model !== '') attributes[genAi.responseModel] = model
  const reasons = finishReasons(body)
  if (reasons.length > 0) attributes[genAi.responseFinishReasons] = reasons
  const usage = chatUsage(body)
  if (usage !== undefined) addUsage(attributes, usage)
}

/** A response that is made in the background, and that the product asks for later. */
export function isPending(body: Fields): boolean {
  return body['object'] === 'response' && (body['status'] === 'queued' || body['status'] === 'in_progress')
}

/** The tool calls that the model asks for, in the message's order; of several choices the first. */
export function requestedCalls(body: Fields): RequestedCall[] {
  const message = asObject(asObject(asArray(body['choices'])[0])?.['message'])
  const chat = asArray(message?.['tool_calls']).map((call) => {
    const fields = asObject(call) ?? {}
    const custom = asObject(fields['custom'])
    return custom === undefined ? requested(asObject(fields['function']) ?? {}, fields['id']) : requestedText(custom, fields['id'])
  })
  const responses = asArray(body['output'])
    .map((item) => asObject(item) ?? {})
    .flatMap((item) => {
      if (item['type'] === 'function_call') return [requested(item, item['call_id'])]
      return item['type'] === 'custom_tool_call' ? [requestedText(item, item['call_id'])] : []
    })
  const messages = asArray(body['content'])
    .map((block) => asObject(block) ?? {})
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => ({ name: asText(block['name']) ?? '', callId: asText(block['id']), arguments: block['input'] ?? {} }))
  return [...chat, ...responses, ...messages]
}

function requested(fields: Fields, id: Json | undefined): RequestedCall {
  const text = fields['arguments']
  const value = typeof text === 'string' ? (text.trim() === '' ? {} : (parseJson(text) ?? text)) : (text ?? {})
  return { name: asText(fields['name']) ?? '', callId: idOf(id), arguments: value }
}

/** A custom tool gets text, whatever it looks like. */
function requestedText(fields: Fields, id: Json | undefined): RequestedCall {
  return { name: asText(fields['name']) ?? '', callId: idOf(id), arguments: asText(fields['input']) ?? '' }
}

function idOf(id: Json | undefined): string | undefined {
  return id === undefined || id === null ? undefined : textOfJson(id)
}

function finishReasons(body: Fields): string[] {
  const choices = asArray(body['choices']).map((choice) => asText(asObject(choice)?.['finish_reason']))
  const single = asText(body['stop_reason']) ?? (body['object'] === 'response' ? stopReasonOf(body) : undefined)
  return [...choices, single].filter((reason) => reason !== undefined)
}

function addUsage(attributes: Attributes, usage: Fields): void {
  const inputDetails = asObject(usage['prompt_tokens_details']) ?? asObject(usage['input_tokens_details'])
  const outputDetails = asObject(usage['completion_tokens_details']) ?? asObject(usage['output_tokens_details'])
  const cacheRead =
    number(inputDetails?.['cached_tokens']) ?? number(usage['prompt_cache_hit_tokens']) ?? number(usage['cache_read_input_tokens'])
  const cacheWrite = number(inputDetails?.['cache_write_tokens']) ?? number(usage['cache_creation_input_tokens'])
  // Anthropic counts the cache beside the input; a gateway that puts such counts into OpenAI's usage has it in both.
  const counted = number(usage['prompt_tokens']) !== undefined || inputDetails !== undefined
  const input = number(usage['prompt_tokens']) ?? number(usage['input_tokens'])
  const output = number(usage['completion_tokens']) ?? number(usage['output_tokens'])
  const reasoning = number(outputDetails?.['reasoning_tokens']) ?? number(outputDetails?.['thinking_tokens'])
  if (input !== undefined) attributes[genAi.usageInputTokens] = counted ? input : input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  if (output !== undefined) attributes[genAi.usageOutputTokens] = output
  if (cacheRead !== undefined) attributes[genAi.usageCacheReadInputTokens] = cacheRead
  if (cacheWrite !== undefined) attributes[genAi.usageCacheCreationInputTokens] = cacheWrite
  if (reasoning !== undefined) attributes[genAi.usageReasoningOutputTokens] = reasoning
}

function number(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
