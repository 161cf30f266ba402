// The Chat Completions dialect: `openai.chat`, spoken by OpenAI, Azure, vLLM and most others.
import type { Json, Message, ModelCall, ModelResponse, ToolDefinition, Usage } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asNumber, asObject, asText, textOfJson } from '../json.ts'
import type { CanonicalRequest, Dialect } from './dialect.ts'
import { defined, presentUsage } from './numbers.ts'
import { writeChatEvents } from './openai-chat-events.ts'
import { readMessage, writeMessage, writeMessages } from './openai-chat-messages.ts'
import { assembleOpenAiChat } from './openai-chat-stream.ts'
import { chatUsage } from './openai-chat-usage.ts'

type Fields = { [key: string]: Json }

export const openaiChat: Dialect = {
  api: 'openai.chat',
  provider: 'openai',
  matchesPath: (path) => /\/chat\/completions\/?(?:[?#]|$)/.test(path),
  readRequest,
  readResponse,
  readTokens,
  writeRequest,
  writeResponse,
  writeStream: writeChatEvents,
  assembler: assembleOpenAiChat,
}

function readRequest(body: Json): CanonicalRequest {
  const { model, messages, tools, functions, ...parameters } = asObject(body) ?? {}
  return {
    model: asText(model) ?? '',
    messages: asArray(messages).map(readMessage),
    tools: [
      ...asArray(tools).map(readTool),
      ...asArray(functions).map((definition) => readTool({ type: 'function', function: definition })),
    ],
    parameters,
  }
}

function writeRequest(request: CanonicalRequest): Fields {
  return {
    model: request.model,
    messages: writeMessages(request.messages),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(writeTool) }),
    ...request.parameters,
  }
}

/** The wire wraps a definition in `function` or `custom`; the canonical form is flat. A provider's own tool is flat already. */
function readTool(sent: Json): ToolDefinition {
  const tool = asObject(sent) ?? {}
  const type = asText(tool['type']) ?? 'function'
  const inner = asObject(tool[type])
  if ((type !== 'function' && type !== 'custom') || inner === undefined) return { ...tool, type, name: asText(tool['name']) ?? type }
  const { [type]: _, ...outer } = tool
  return { ...outer, ...inner, type, name: asText(inner['name']) ?? '' }
}

/** As `written` in openai-chat-messages.ts: the same definitions go out with each call. */
const writtenTools = new WeakMap<ToolDefinition, Fields>()

/** One definition for the wire. */
export function writeTool(tool: ToolDefinition): Fields {
  const before = writtenTools.get(tool)
  if (before !== undefined) return before
  const fields = toolFields(tool)
  writtenTools.set(tool, fields)
  return fields
}

function toolFields({ type = 'function', ...definition }: ToolDefinition): Fields {
  const inner: Fields = {}
  for (const [key, value] of Object.entries(definition)) if (value !== undefined) inner[key] = value
  if (type === 'function' || type === 'custom') return { type, [type]: inner }
  if (inner['name'] === type) delete inner['name']
  return { type, ...inner }
}

function readResponse(body: Json): ModelResponse | undefined {
  const response = asObject(body)
  if (response === undefined || !Array.isArray(response['choices'])) return undefined
  const choices = response['choices'].map((choice) => asObject(choice) ?? {})
  const model = asText(response['model'])
  const id = response['id']
  return {
    ...(model === undefined || model === '' ? {} : { model }),
    ...(id === undefined || id === null || id === '' ? {} : { id: textOfJson(id) }),
    outputs: choices.map((choice) => readMessage({ role: 'assistant', ...asObject(choice['message']) })),
    finishReasons: choices.map((choice) => finishReason(asText(choice['finish_reason']))),
    usage: readUsage(chatUsage(response) ?? {}),
  }
}

function readUsage(usage: Fields): Usage {
  const input = asObject(usage['prompt_tokens_details']) ?? {}
  const output = asObject(usage['completion_tokens_details']) ?? {}
  return presentUsage({
    inputTokens: asNumber(usage['prompt_tokens']),
    outputTokens: asNumber(usage['completion_tokens']),
    // DeepSeek counts hits beside the details, and gateways Anthropic's cache.
    cacheReadTokens:
      asNumber(input['cached_tokens']) ?? asNumber(usage['prompt_cache_hit_tokens']) ?? asNumber(usage['cache_read_input_tokens']),
    cacheWriteTokens: asNumber(input['cache_write_tokens']) ?? asNumber(usage['cache_creation_input_tokens']),
    reasoningTokens: asNumber(output['reasoning_tokens']),
  })
}

function writeResponse(response: ModelResponse, options: { model?: string } = {}): Fields {
  const model = response.model ?? options.model
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = response.usage
  const input = defined({ cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens })
  const output = defined({ reasoning_tokens: reasoningTokens })
  const usage = {
    ...defined({ prompt_tokens: inputTokens, completion_tokens: outputTokens }),
    ...(inputTokens === undefined || outputTokens === undefined ? {} : { total_tokens: inputTokens + outputTokens }),
    ...(Object.keys(input).length === 0 ? {} : { prompt_tokens_details: input }),
    ...(Object.keys(output).length === 0 ? {} : { completion_tokens_details: output }),
  }
  return {
    ...(response.id === undefined ? {} : { id: response.id }),
    object: 'chat.completion',
    ...(model === undefined ? {} : { model }),
    choices: response.outputs.map((output, index) => ({
      index,
      message: writeMessage(output),
      finish_reason: writeFinishReason(response.finishReasons[index], output),
    })),
    ...(Object.keys(usage).length === 0 ? {} : { usage }),
  }
}

function writeFinishReason(reason: string | undefined, output: Message): Json {
  if (reason === undefined || reason === 'error') return null
  if (reason !== 'tool_call') return reason
  const legacy = output.parts.some((part) => part.type === 'tool_call' && part.provider?.['function_call'] === true)
  return legacy ? 'function_call' : 'tool_calls'
}

/** vLLM with `return_token_ids`: the prompt's ids on the body, the completion's on the choice, log-probabilities beside. Of the first choice. */
function readTokens(body: Json): ModelCall['tokens'] {
  const response = asObject(body) ?? {}
  const choice = asObject(asArray(response['choices'])[0]) ?? {}
  const promptIds = numbers(response['prompt_token_ids'])
  const completionIds = numbers(choice['token_ids'])
  if (promptIds === undefined || completionIds === undefined) return undefined
  const logprobs = asArray(asObject(choice['logprobs'])?.['content']).map((token) => asNumber(asObject(token)?.['logprob']))
  const whole = logprobs.length === completionIds.length && logprobs.every((value) => value !== undefined)
  return { promptIds, completionIds, ...(whole ? { logprobs: logprobs.filter((value) => value !== undefined) } : {}) }
}

function numbers(sent: Json | undefined): number[] | undefined {
  if (!Array.isArray(sent)) return undefined
  const values = sent.map(asNumber).filter((value) => value !== undefined)
  return values.length === sent.length ? values : undefined
}
