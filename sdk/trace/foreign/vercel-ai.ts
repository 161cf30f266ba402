// The Vercel AI SDK's own telemetry (`ai.*`): the outer span sums its steps and is the agent; a doGenerate or doStream span is a model call.

import { genAi } from '../attributes.ts'
import { readArguments } from '../dialects/tool-arguments.ts'
import type { Json, Message, Part } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asObject, asText } from '../json.ts'
import { partOfFields } from '../part.ts'
import type { SpanAttributes } from '../span-attributes.ts'
import { vercelAi as names } from './attribute-names.ts'
import { defined } from './columns.ts'
import { objects, parsed } from './flattened.ts'
import { requestParameters, requestPrefixes } from './request-parameters.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignColumns, ForeignReader } from './types.ts'

export const vercelAi: ForeignReader = {
  api: 'vercel-ai',
  columns: (attributes, name) => {
    if (!attributes.has(names.operationId)) return undefined
    const operation = attributes.text(names.operationId)
    attributes.text(names.operationName)
    const { sessionId = '', userId = '', ...tags } = attributes.under(names.metadata)
    const shared = { ...defined({ session: sessionId, user: userId }), tags }
    if (/\.(doGenerate|doStream|doEmbed)$/.test(operation)) return { ...shared, ...modelColumns(attributes) }
    if (operation === 'ai.toolCall') {
      return {
        ...shared,
        kind: 'tool',
        toolName: attributes.text(names.toolName),
        callId: attributes.text(names.toolCallId),
        arguments: attributes.text(names.toolArguments),
        result: attributes.text(names.toolResult),
      }
    }
    if (!/^ai\.(generate|stream)(Text|Object)$/.test(operation)) return { ...shared, kind: 'other' }
    return {
      ...shared,
      kind: 'agent',
      agentName: attributes.text(names.functionId) || name,
      input: attributes.text(names.prompt),
      output: attributes.text(names.responseText) || attributes.text(names.responseObject) || attributes.text(names.responseToolCalls),
    }
  },
  readRequest: (body) => ({
    model: asText(body[names.model]) ?? '',
    messages: objects(parsed(body[names.promptMessages])).map(messageOf),
    tools: asArray(parsed(body[names.promptTools])).flatMap((tool) => toolDefinition(tool) ?? []),
    parameters: requestParameters(body),
  }),
  readOutputs: (body) => {
    const parts = outputParts(body)
    return parts.length === 0 ? [] : [{ role: 'assistant', parts }]
  },
}

function modelColumns(attributes: SpanAttributes): ForeignColumns {
  const reasons = [attributes.text(names.finishReason)].filter((reason) => reason !== '')
  const first = (list: readonly string[]) => list.map((name) => attributes.number(name)).find((value) => value !== undefined)
  // It writes the GenAI names beside its own, with its provider's sub-name (openai.responses) and its own words for reasons.
  const provider = attributes.text(names.provider) || attributes.text(genAi.providerName)
  const columns: ForeignColumns = {
    kind: 'model',
    api: vercelAi.api,
    provider: provider.split('.', 1)[0] ?? '',
    ...defined({
      model: attributes.text(names.model),
      responseId: attributes.text(names.responseId),
      responseModel: attributes.text(names.responseModel),
      inputTokens: first(names.inputTokens),
      outputTokens: first(names.outputTokens),
      cacheReadTokens: first(names.cacheRead),
      cacheWriteTokens: first(names.cacheWrite),
      reasoningTokens: first(names.reasoning),
      firstChunkMs: attributes.number(names.msToFirstChunk),
    }),
    ...(reasons.length === 0 ? {} : { finishReasons: reasons.map(finishReason) }),
  }
  return { ...columns, requestBody: JSON.stringify(attributes.json([names.prompt, names.response, names.model, ...requestPrefixes])) }
}

function outputParts(body: ForeignBody): Part[] {
  const reasoning = asText(body[names.responseReasoning])
  const text = asText(body[names.responseText]) ?? asText(body[names.responseObject])
  return [
    ...(reasoning === undefined || reasoning === '' ? [] : [{ type: 'reasoning' as const, content: reasoning }]),
    ...(text === undefined || text === '' ? [] : [{ type: 'text' as const, content: text }]),
    ...objects(parsed(body[names.responseToolCalls])).map(callPart),
  ]
}

function messageOf(sent: { [key: string]: Json }): Message {
  const content = sent['content']
  const parts = typeof content === 'string' ? [{ type: 'text' as const, content }] : objects(content).flatMap(partOf)
  return { role: asText(sent['role']) ?? 'user', parts }
}

function partOf(part: { [key: string]: Json }): Part[] {
  const text = asText(part['text'])
  switch (part['type']) {
    case 'text':
      return [{ type: 'text', content: text ?? '' }]
    case 'reasoning':
      return [{ type: 'reasoning', content: text ?? '' }]
    case 'tool-call':
      return [callPart(part)]
    case 'tool-result': {
      const output = asObject(part['output'])
      const id = asText(part['toolCallId'])
      return [
        {
          type: 'tool_call_response',
          ...(id === undefined ? {} : { id }),
          response: output?.['value'] ?? part['output'] ?? part['result'] ?? null,
        },
      ]
    }
    case 'file':
    case 'image':
      return [mediaOf(part)]
    default:
      return [partOfFields(part)]
  }
}

/** Bytes are base64 text or a URL; version 4 had `image` and `mimeType`. */
function mediaOf(part: { [key: string]: Json }): Part {
  const mime = asText(part['mediaType']) ?? asText(part['mimeType']) ?? (part['type'] === 'image' ? 'image/*' : '')
  const data = asText(part['data']) ?? asText(part['image']) ?? ''
  const modality = mime.split('/')[0] || 'file'
  if (/^https?:/.test(data)) return { type: 'uri', modality, mime_type: mime, uri: data }
  return { type: 'blob', modality, mime_type: mime, content: data }
}

function callPart(call: { [key: string]: Json }): Part {
  const id = asText(call['toolCallId'])
  return {
    type: 'tool_call',
    ...(id === undefined ? {} : { id }),
    name: asText(call['toolName']) ?? '',
    ...readArguments(call['input'] ?? call['args']),
  }
}
