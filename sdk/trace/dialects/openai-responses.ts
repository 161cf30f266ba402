// The Responses dialect: `openai.responses`.
import type { Json, Message, ModelResponse, Usage } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asNumber, asObject, asText } from '../json.ts'
import type { CanonicalRequest, Dialect } from './dialect.ts'
import { defined, presentUsage } from './numbers.ts'
import { writeResponsesEvents } from './openai-responses-events.ts'
import { readItems, writeItems } from './openai-responses-items.ts'
import { assembleOpenAiResponses } from './openai-responses-stream.ts'
import { stopReasonOf } from './stop-reason.ts'

type Fields = { [key: string]: Json }

export const openaiResponses: Dialect = {
  api: 'openai.responses',
  provider: 'openai',
  matchesPath: (path) => /\/responses\/?(?:[?#]|$)/.test(path),
  readRequest,
  readResponse,
  writeRequest,
  writeResponse,
  writeStream: writeResponsesEvents,
  assembler: assembleOpenAiResponses,
}

function readRequest(body: Json): CanonicalRequest {
  const { model, input, instructions, tools, ...parameters } = asObject(body) ?? {}
  const said = asText(instructions)
  const text = asText(input)
  const messages: Message[] = text === undefined ? readItems(asArray(input)) : [{ role: 'user', parts: [{ type: 'text', content: text }] }]
  return {
    model: asText(model) ?? '',
    messages: said === undefined || said === '' ? messages : [{ role: 'system', parts: [{ type: 'text', content: said }] }, ...messages],
    // Definitions are flat on this wire; a provider's own tool is named by its type.
    tools: asArray(tools).map((sent) => {
      const tool = asObject(sent) ?? {}
      const type = asText(tool['type']) ?? 'function'
      return { ...tool, type, name: asText(tool['name']) ?? type }
    }),
    parameters,
  }
}

function writeRequest(request: CanonicalRequest): Fields {
  const instructions = instructionsOf(request.messages[0])
  const messages = instructions === undefined ? request.messages : request.messages.slice(1)
  const tools = request.tools.map(({ type = 'function', ...definition }): Fields => {
    const named = type === 'function' || type === 'custom'
    const fields: Fields = { type }
    for (const [key, value] of Object.entries(definition))
      if (value !== undefined && (named || key !== 'name' || value !== type)) fields[key] = value
    return fields
  })
  return {
    model: request.model,
    ...(instructions === undefined ? {} : { instructions }),
    input: writeItems(messages, { synthesize: false }),
    ...(tools.length === 0 ? {} : { tools }),
    ...request.parameters,
  }
}

/** A first system message of plain text. */
function instructionsOf(message: Message | undefined): string | undefined {
  const [part] = message?.parts ?? []
  const plain = message?.role === 'system' && message.name === undefined && message.provider === undefined && message.parts.length === 1
  return plain && part?.type === 'text' && part.provider === undefined && part.content !== '' ? part.content : undefined
}

function readResponse(body: Json): ModelResponse | undefined {
  const response = asObject(body)
  if (response === undefined || (!Array.isArray(response['output']) && response['object'] !== 'response')) return undefined
  const output: Message = { role: 'assistant', parts: readItems(asArray(response['output'])).flatMap((message) => message.parts) }
  const model = asText(response['model'])
  const id = asText(response['id'])
  return {
    ...(model === undefined || model === '' ? {} : { model }),
    ...(id === undefined || id === '' ? {} : { id }),
    outputs: [output],
    finishReasons: [finishReason(stopReasonOf(response))],
    usage: readUsage(response['usage']),
  }
}

function readUsage(sent: Json | undefined): Usage {
  const usage = asObject(sent) ?? {}
  const input = asObject(usage['input_tokens_details']) ?? {}
  const output = asObject(usage['output_tokens_details']) ?? {}
  return presentUsage({
    inputTokens: asNumber(usage['input_tokens']),
    outputTokens: asNumber(usage['output_tokens']),
    cacheReadTokens: asNumber(input['cached_tokens']),
    cacheWriteTokens: asNumber(input['cache_write_tokens']),
    reasoningTokens: asNumber(output['reasoning_tokens']),
  })
}

/** One response: of several outputs the first. */
function writeResponse(response: ModelResponse, options: { model?: string } = {}): Fields {
  const [output] = response.outputs
  const reason = response.finishReasons[0] ?? 'error'
  const model = response.model ?? options.model
  return {
    ...(response.id === undefined ? {} : { id: response.id }),
    object: 'response',
    ...(model === undefined ? {} : { model }),
    ...statusOf(reason),
    output: output === undefined ? [] : writeItems([{ ...output, role: 'assistant' }], { synthesize: true }),
    ...writeUsage(response.usage),
  }
}

function statusOf(reason: string): Fields {
  if (reason === 'stop' || reason === 'tool_call') return { status: 'completed' }
  if (reason === 'error') return { status: 'failed' }
  return { status: 'incomplete', incomplete_details: { reason: reason === 'length' ? 'max_output_tokens' : reason } }
}

function writeUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }: Usage): Fields {
  const input = defined({ cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens })
  const output = defined({ reasoning_tokens: reasoningTokens })
  const usage: Fields = {
    ...defined({ input_tokens: inputTokens, output_tokens: outputTokens }),
    ...(inputTokens === undefined || outputTokens === undefined ? {} : { total_tokens: inputTokens + outputTokens }),
    ...(Object.keys(input).length === 0 ? {} : { input_tokens_details: input }),
    ...(Object.keys(output).length === 0 ? {} : { output_tokens_details: output }),
  }
  return Object.keys(usage).length === 0 ? {} : { usage }
}
