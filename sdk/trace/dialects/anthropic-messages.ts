// Anthropic's Messages dialect: `anthropic.messages`.
import type { Json, Message, ModelResponse, ToolDefinition, Usage } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asNumber, asObject, asText } from '../json.ts'
import { readBlocks, writeBlocks } from './anthropic-messages-blocks.ts'
import { writeMessagesEvents } from './anthropic-messages-events.ts'
import { assembleAnthropicMessages } from './anthropic-messages-stream.ts'
import type { CanonicalRequest, Dialect } from './dialect.ts'
import { defined, presentUsage } from './numbers.ts'
import { extra, writtenExtra } from './provider-extra.ts'

const api = 'anthropic.messages'
type Fields = { [key: string]: Json }

/** Its own, but not OpenAI's `/threads/ID/messages`; Vertex and Bedrock put the model into the path. */
const paths = [
  /^(?!.*\/threads\/).*\/messages\/?(?:[?#]|$)/,
  /\/publishers\/anthropic\/models\/(?!count-tokens:)[^/]+:(?:streamRawPredict|rawPredict)(?:[?#]|$)/,
  /\/model\/(?:[^/]*anthropic|arn(?::|%3A))[^/]*\/invoke(?:-with-response-stream)?(?:[?#]|$)/,
]

export const anthropicMessages: Dialect = {
  api,
  provider: 'anthropic',
  matchesPath: (path) => paths.some((known) => known.test(path)),
  readRequest,
  readResponse,
  writeRequest,
  writeResponse,
  writeStream: writeMessagesEvents,
  assembler: assembleAnthropicMessages,
}

function readRequest(body: Json): CanonicalRequest {
  const { model, messages, system, tools, ...parameters } = asObject(body) ?? {}
  const instructions = readBlocks(system)
  return {
    model: asText(model) ?? '',
    messages: [...(instructions.length === 0 ? [] : [{ role: 'system', parts: instructions }]), ...asArray(messages).map(readMessage)],
    tools: asArray(tools).map(readTool),
    parameters,
  }
}

/** Results of calls come under role `user` on this wire; a message of results alone has the conventions' role `tool`. */
function readMessage(sent: Json): Message {
  const message = asObject(sent) ?? {}
  const parts = readBlocks(message['content'])
  const results = parts.length > 0 && parts.every((part) => part.type === 'tool_call_response')
  const role = asText(message['role']) ?? 'unknown'
  // Instructions in mid-conversation stay apart from those of other wires, which this one may not take there.
  const own: Fields = role === 'system' ? { role } : {}
  return { role: results && role === 'user' ? 'tool' : role, parts, ...extra(api, message, ['role', 'content'], own) }
}

function writeRequest(request: CanonicalRequest): Fields {
  const first = request.messages[0]
  const instructions = first !== undefined && isSystem(first) && writtenExtra(api, first)['role'] === undefined ? first : undefined
  const system = instructions === undefined ? [] : writeBlocks(instructions.parts, { signed: true })
  const messages = instructions === undefined ? request.messages : request.messages.slice(1)
  return {
    model: request.model,
    ...(system.length === 0 ? {} : { system: bare(system) }),
    messages: messages.map(writeMessage),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(writeTool) }),
    ...request.parameters,
  }
}

function writeMessage(message: Message): Fields {
  const blocks = writeBlocks(message.parts, { signed: true })
  // Later system messages of other wires are said by the user: only some models take any.
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  return { role, content: blocks.length === 0 ? '' : bare(blocks), ...writtenExtra(api, message) }
}

function isSystem(message: Message): boolean {
  return message.role === 'system' || message.role === 'developer'
}

/** A single block of bare text is text. */
function bare(blocks: Fields[]): Json {
  const [only] = blocks
  const text = blocks.length === 1 && only?.['type'] === 'text' && Object.keys(only).length === 2 ? asText(only['text']) : undefined
  return text === undefined || text === '' ? blocks : text
}

/** A server's own tool (web search, say) has a type with a date and no schema. */
function readTool(sent: Json): ToolDefinition {
  const { type, name, input_schema, ...rest } = asObject(sent) ?? {}
  const own = asText(type)
  const kind = own === undefined || own === 'custom' ? 'function' : own
  return { ...rest, type: kind, name: asText(name) ?? kind, ...(input_schema === undefined ? {} : { parameters: input_schema }) }
}

function writeTool({ type = 'function', parameters, ...definition }: ToolDefinition): Fields {
  const fields: Fields = {}
  for (const [key, value] of Object.entries(definition)) if (value !== undefined) fields[key] = value
  if (type === 'function') return { ...fields, input_schema: parameters === undefined ? { type: 'object', properties: {} } : parameters }
  // A set of an MCP server's tools has no name on the wire.
  if (fields['name'] === type) delete fields['name']
  return { type, ...fields, ...(parameters === undefined ? {} : { input_schema: parameters }) }
}

function readResponse(body: Json): ModelResponse | undefined {
  const response = asObject(body)
  if (response === undefined || !Array.isArray(response['content'])) return undefined
  const model = asText(response['model'])
  const id = asText(response['id'])
  const stopped = response['stop_sequence']
  return {
    ...(model === undefined || model === '' ? {} : { model }),
    ...(id === undefined || id === '' ? {} : { id }),
    outputs: [
      {
        role: 'assistant',
        parts: readBlocks(response['content']),
        ...(typeof stopped === 'string' ? { provider: { name: api, stop_sequence: stopped } } : {}),
      },
    ],
    finishReasons: [finishReason(asText(response['stop_reason']))],
    usage: readUsage(response['usage']),
  }
}

/** The wire counts cached tokens beside `input_tokens`; the canonical form includes them. */
function readUsage(sent: Json | undefined): Usage {
  const usage = asObject(sent) ?? {}
  const fresh = asNumber(usage['input_tokens'])
  const cacheReadTokens = asNumber(usage['cache_read_input_tokens'])
  const cacheWriteTokens = asNumber(usage['cache_creation_input_tokens'])
  const output = asObject(usage['output_tokens_details']) ?? {}
  return presentUsage({
    inputTokens: fresh === undefined ? undefined : fresh + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens: asNumber(usage['output_tokens']),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: asNumber(output['thinking_tokens']) ?? asNumber(usage['reasoning_tokens']),
  })
}

const stopReasons: Readonly<Record<string, string | null>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_call: 'tool_use',
  content_filter: 'refusal',
  error: null,
}

/** One message: of several outputs the first. */
function writeResponse(response: ModelResponse, options: { model?: string } = {}): Fields {
  const [output] = response.outputs
  const reason = response.finishReasons[0] ?? 'error'
  const model = response.model ?? options.model
  const stopped = output === undefined ? undefined : writtenExtra(api, output)['stop_sequence']
  const stopReason = Object.hasOwn(stopReasons, reason) ? (stopReasons[reason] ?? null) : reason
  return {
    ...(response.id === undefined ? {} : { id: response.id }),
    type: 'message',
    role: 'assistant',
    ...(model === undefined ? {} : { model }),
    content: output === undefined ? [] : writeBlocks(output.parts, { signed: false }),
    stop_reason: stopped !== undefined && reason === 'stop' ? 'stop_sequence' : stopReason,
    stop_sequence: stopped ?? null,
    ...writeUsage(response.usage),
  }
}

function writeUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }: Usage): Fields {
  const fresh = inputTokens === undefined ? undefined : Math.max(0, inputTokens - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0))
  const usage = defined({
    input_tokens: fresh,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
  })
  const details: Fields = reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }
  return Object.keys(usage).length + Object.keys(details).length === 0 ? {} : { usage: { ...usage, ...details } }
}
