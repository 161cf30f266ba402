// OpenInference (Arize Phoenix and its instrumentations): everything flattened into attribute names under `llm.`.

import { readArguments } from '../dialects/tool-arguments.ts'
import type { Json, Message, Part, ToolCallPart } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asObject, asText, jsonOrText } from '../json.ts'
import { partOfFields } from '../part.ts'
import type { SpanAttributes } from '../span-attributes.ts'
import { openInference as names } from './attribute-names.ts'
import { defined, type ForeignColumnsOf } from './columns.ts'
import { objects, parsed, unflattened } from './flattened.ts'
import { langChainMessage } from './langchain-message.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignReader } from './types.ts'

export const openInference: ForeignReader = {
  api: 'openinference',
  columns: (attributes, name) => {
    if (!attributes.has(names.kind)) return undefined
    switch (attributes.text(names.kind).toUpperCase()) {
      case 'LLM':
      case 'EMBEDDING':
        return modelColumns(attributes)
      case 'TOOL':
        return toolColumns(attributes, name)
      case 'AGENT':
        return { kind: 'agent', agentName: attributes.text(names.agentName) || name, ...valuesOf(attributes, 'input', 'output') }
      default:
        return { kind: 'other' }
    }
  },
  readRequest: (body) => ({
    model: '',
    messages: langChainInput(body) ?? conversationOf(body, names.inputMessages, names.prompts, 'user'),
    tools: objects(unflattened(body, names.tools)).flatMap((item) => toolDefinition(asObject(item['tool'])?.['json_schema']) ?? []),
    parameters: parametersOf(body),
  }),
  readOutputs: (body) => langChainOutput(body) ?? conversationOf(body, names.outputMessages, names.choices, 'assistant'),
}

function modelColumns(attributes: SpanAttributes): ForeignColumnsOf<'model'> {
  const reasons = attributes.texts(names.finishReason)
  const columns = {
    kind: 'model' as const,
    api: openInference.api,
    provider: attributes.text(names.provider) || attributes.text(names.system),
    model: attributes.text(names.model) || attributes.text(names.requestModel) || attributes.text(names.embeddingModel),
    ...(reasons.length === 0 ? {} : { finishReasons: reasons.map(finishReason) }),
    ...defined({
      ...responseNames(attributes),
      inputTokens: attributes.number(names.promptTokens),
      outputTokens: attributes.number(names.completionTokens),
      cacheReadTokens: attributes.number(names.cacheRead),
      cacheWriteTokens: attributes.number(names.cacheWrite),
      reasoningTokens: attributes.number(names.reasoning),
    }),
  }
  // LangChain's messages are whole in its own values alone: flattened, they have lost their blocks and the ids of their calls.
  const values = [names.inputValue, names.outputValue].filter((value) => isLangChain(attributes.peek(value)))
  return { ...columns, requestBody: JSON.stringify(attributes.json([names.llm, ...values])) }
}

function toolColumns(attributes: SpanAttributes, name: string): ForeignColumnsOf<'tool'> {
  const { arguments: given, result } = valuesOf(attributes, 'arguments', 'result')
  const answer = isLangChain(result ?? '') ? langChainMessage(asObject(jsonOrText(result ?? ''))?.['output'])?.parts[0] : undefined
  const answered = answer?.type === 'tool_call_response' ? answer : undefined
  return {
    kind: 'tool',
    ...defined({ arguments: given, result: answered === undefined ? result : textOfResult(answered.response) }),
    toolName: attributes.text(names.toolName) || name,
    ...defined({ callId: attributes.text(names.toolCallId) || answered?.id }),
  }
}

function textOfResult(response: Json): string {
  return typeof response === 'string' ? response : JSON.stringify(response)
}

/** The id and model of the answer stand nowhere but in the provider's own answer, which is there where it was not streamed. It is not taken: it holds more than messages. */
function responseNames(attributes: SpanAttributes): { responseId?: string; responseModel?: string; provider?: string } {
  const answer = attributes.peek(names.outputValue)
  if (!answer.startsWith('{')) return defined({ responseModel: attributes.text(names.responseModel) })
  const sent = asObject(jsonOrText(answer))
  const [first] = asArray(asArray(sent?.['generations'])[0])
  const fields = asObject(asObject(asObject(first)?.['message'])?.['kwargs'])
  const about = asObject(fields?.['response_metadata'])
  return defined({
    responseId: asText(sent?.['id']) ?? asText(fields?.['id']),
    responseModel: (attributes.text(names.responseModel) || asText(sent?.['model'])) ?? asText(about?.['model_name']),
    provider: attributes.has(names.provider) || attributes.has(names.system) ? undefined : asText(about?.['model_provider']),
  })
}

/** What of the request is neither message nor tool; the model has a column of its own. */
function parametersOf(body: ForeignBody): { [key: string]: Json } {
  const { model: _model, messages: _messages, tools: _tools, ...parameters } = asObject(parsed(body[names.parameters])) ?? {}
  return parameters
}

function valuesOf<In extends string, Out extends string>(
  attributes: SpanAttributes,
  input: In,
  output: Out,
): { [Key in In | Out]?: string } {
  attributes.text(names.inputType)
  attributes.text(names.outputType)
  const columns: { [key: string]: string } = { [input]: attributes.text(names.inputValue), [output]: attributes.text(names.outputValue) }
  return columns as { [Key in In | Out]?: string }
}

function isLangChain(value: string): boolean {
  return value.startsWith('{') && value.includes('"lc":1')
}

function langChainInput(body: ForeignBody): Message[] | undefined {
  return langChainMessages(asArray(asObject(parsed(body[names.inputValue]))?.['messages'])[0])
}

function langChainOutput(body: ForeignBody): Message[] | undefined {
  const [generations] = asArray(asObject(parsed(body[names.outputValue]))?.['generations'])
  return langChainMessages(asArray(generations).map((one) => asObject(one)?.['message'] ?? null))
}

/** Undefined where one of them is none. */
function langChainMessages(sent: Json | undefined): Message[] | undefined {
  const messages = asArray(sent).map(langChainMessage)
  const whole = messages.filter((message) => message !== undefined)
  return whole.length > 0 && whole.length === messages.length ? whole : undefined
}

/** Messages, or the texts of a completion. */
function conversationOf(body: ForeignBody, messages: string, texts: string, role: 'user' | 'assistant'): Message[] {
  const sent = messagesOf(body, messages)
  if (sent.length > 0) return sent
  return objects(unflattened(body, texts)).flatMap((item): Message[] => {
    const content = asText((asObject(item['prompt']) ?? asObject(item['completion']))?.['text'])
    return content === undefined ? [] : [{ role, parts: [{ type: 'text', content }] }]
  })
}

function messagesOf(body: ForeignBody, prefix: string): Message[] {
  return objects(unflattened(body, prefix)).map((item) => {
    const message = asObject(item['message']) ?? {}
    const role = asText(message['role']) ?? 'user'
    const name = asText(message['name'])
    const named = name === undefined ? {} : { name }
    const answered = asText(message['tool_call_id'])
    const content = asText(message['content'])
    if (role === 'tool' && content !== undefined) {
      return {
        role,
        ...named,
        parts: [{ type: 'tool_call_response', ...(answered === undefined ? {} : { id: answered }), response: jsonOrText(content) }],
      }
    }
    const parts: Part[] = [
      ...(content === undefined || content === '' ? [] : [{ type: 'text' as const, content }]),
      ...objects(message['contents']).flatMap((one) => contentPart(asObject(one['message_content']) ?? {})),
      ...objects(message['tool_calls']).map((one) => callPart(asObject(one['tool_call']) ?? {})),
      ...functionCall(message),
    ]
    return { role, ...named, parts }
  })
}

function contentPart(content: { [key: string]: Json }): Part[] {
  const text = asText(content['text'])
  if (content['type'] === 'text' && text !== undefined) return [{ type: 'text', content: text }]
  if (content['type'] === 'reasoning' && text !== undefined) {
    const { text: _text, ...rest } = content
    return [partOfFields({ ...rest, content: text })]
  }
  const url = asText(asObject(asObject(content['image'])?.['image'])?.['url'])
  if (url !== undefined) return [{ type: 'uri', modality: 'image', uri: url }]
  return Object.keys(content).length === 0 ? [] : [partOfFields(content)]
}

/** OpenAI's call of a function, before there were tools. */
function functionCall(message: { [key: string]: Json }): ToolCallPart[] {
  const name = asText(message['function_call_name'])
  return name === undefined ? [] : [{ type: 'tool_call', name, ...readArguments(message['function_call_arguments_json']) }]
}

function callPart(call: { [key: string]: Json }): ToolCallPart {
  const called = asObject(call['function']) ?? {}
  const id = asText(call['id'])
  return {
    type: 'tool_call',
    ...(id === undefined ? {} : { id }),
    name: asText(called['name']) ?? '',
    ...readArguments(called['arguments']),
  }
}
