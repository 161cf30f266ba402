// OpenInference (Arize Phoenix and its instrumentations): everything flattened into attribute names under `llm.`.

import { readArguments } from '../dialects/tool-arguments.ts'
import type { Json, Message, Part, ToolCallPart } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asObject, asText, jsonOrText } from '../json.ts'
import { partOfFields } from '../part.ts'
import type { SpanAttributes } from '../span-attributes.ts'
import { openInference as names } from './attribute-names.ts'
import { defined, type ForeignColumnsOf } from './columns.ts'
import { objects, parsed, unflattened } from './flattened.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignReader } from './types.ts'

export const openInference: ForeignReader = {
  api: 'openinference',
  columns: (attributes, name) => {
    if (!attributes.has(names.kind)) return undefined
    switch (attributes.text(names.kind).toUpperCase()) {
      case 'LLM':
        return modelColumns(attributes)
      case 'TOOL':
        return {
          kind: 'tool',
          ...valuesOf(attributes, 'arguments', 'result'),
          toolName: attributes.text(names.toolName) || name,
          ...defined({ callId: attributes.text(names.toolCallId) }),
        }
      case 'AGENT':
        return { kind: 'agent', agentName: attributes.text(names.agentName) || name, ...valuesOf(attributes, 'input', 'output') }
      default:
        return { kind: 'other' }
    }
  },
  readRequest: (body) => ({
    model: '',
    messages: messagesOf(body, names.inputMessages),
    tools: objects(unflattened(body, names.tools)).flatMap((item) => toolDefinition(asObject(item['tool'])?.['json_schema']) ?? []),
    parameters: parametersOf(body),
  }),
  readOutputs: (body) => messagesOf(body, names.outputMessages),
}

function modelColumns(attributes: SpanAttributes): ForeignColumnsOf<'model'> {
  const reasons = attributes.texts(names.finishReason)
  const columns = {
    kind: 'model' as const,
    api: openInference.api,
    provider: attributes.text(names.provider) || attributes.text(names.system),
    model: attributes.text(names.model),
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
  return { ...columns, requestBody: JSON.stringify(attributes.json([names.llm])) }
}

/** The id and model of the answer stand nowhere but in the provider's own answer, which is there where it was not streamed. It is not taken: it holds more than messages. */
function responseNames(attributes: SpanAttributes): { responseId?: string; responseModel?: string } {
  const answer = attributes.peek(names.outputValue)
  if (!answer.startsWith('{')) return {}
  const sent = asObject(jsonOrText(answer))
  return defined({ responseId: asText(sent?.['id']), responseModel: asText(sent?.['model']) })
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

function messagesOf(body: ForeignBody, prefix: string): Message[] {
  return objects(unflattened(body, prefix)).map((item) => {
    const message = asObject(item['message']) ?? {}
    const role = asText(message['role']) ?? 'user'
    const answered = asText(message['tool_call_id'])
    const content = asText(message['content'])
    if (role === 'tool' && content !== undefined) {
      return {
        role,
        parts: [{ type: 'tool_call_response', ...(answered === undefined ? {} : { id: answered }), response: jsonOrText(content) }],
      }
    }
    const parts: Part[] = [
      ...(content === undefined || content === '' ? [] : [{ type: 'text' as const, content }]),
      ...objects(message['contents']).flatMap((one) => contentPart(asObject(one['message_content']) ?? {})),
      ...objects(message['tool_calls']).map((one) => callPart(asObject(one['tool_call']) ?? {})),
    ]
    return { role, parts }
  })
}

function contentPart(content: { [key: string]: Json }): Part[] {
  const text = asText(content['text'])
  if (content['type'] === 'text' && text !== undefined) return [{ type: 'text', content: text }]
  const url = asText(asObject(asObject(content['image'])?.['image'])?.['url'])
  if (url !== undefined) return [{ type: 'uri', modality: 'image', uri: url }]
  return Object.keys(content).length === 0 ? [] : [partOfFields(content)]
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
