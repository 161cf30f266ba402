// OpenLLMetry (Traceloop): prompts and completions flattened under `gen_ai.prompt.` and `gen_ai.completion.`; workflows and tools by `traceloop.span.kind`.

import { genAi } from '../attributes.ts'
import { readContentPart } from '../dialects/openai-chat-content.ts'
import { readArguments } from '../dialects/tool-arguments.ts'
import type { Json, Message, Part } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asObject, asText, jsonOrText } from '../json.ts'
import { openLlmetry as names } from './attribute-names.ts'
import { defined } from './columns.ts'
import { objects, unflattened } from './flattened.ts'
import { requestParameters, requestPrefix } from './request-parameters.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignReader } from './types.ts'

export const openLlmetry: ForeignReader = {
  api: 'openllmetry',
  columns: (attributes, name) => {
    const { session_id = '', user_id = '', ...tags } = attributes.under(names.association)
    const shared = { ...defined({ session: session_id, user: user_id }), tags }
    if (attributes.has(names.requestType)) {
      attributes.text(names.requestType)
      attributes.text(names.streaming)
      const body = attributes.json([names.prompt, names.completion, names.functions, requestPrefix])
      const reasons = objects(unflattened(body, names.completion)).map((choice) => asText(choice['finish_reason']))
      const sent = attributes.texts(genAi.responseFinishReasons)
      return {
        ...shared,
        kind: 'model',
        api: openLlmetry.api,
        provider: attributes.text(genAi.providerName).toLowerCase(),
        finishReasons: (sent.length > 0 ? sent : reasons.filter((reason) => reason !== undefined)).map(finishReason),
        requestBody: JSON.stringify(body),
      }
    }
    if (!attributes.has(names.kind)) return undefined
    const entity = attributes.text(names.entityName) || name
    const [input, output] = [attributes.text(names.entityInput), attributes.text(names.entityOutput)]
    switch (attributes.text(names.kind)) {
      case 'workflow':
      case 'agent':
        return { ...shared, kind: 'agent', agentName: entity, input, output }
      case 'tool':
        return { ...shared, kind: 'tool', toolName: entity, arguments: input, result: output }
      default:
        return { ...shared, kind: 'other' }
    }
  },
  readRequest: (body) => ({
    model: '',
    messages: messagesOf(body, names.prompt),
    tools: objects(unflattened(body, names.functions)).flatMap((tool) => toolDefinition(tool) ?? []),
    parameters: requestParameters(body),
  }),
  readOutputs: (body) => messagesOf(body, names.completion).map((message) => ({ ...message, role: message.role || 'assistant' })),
}

function messagesOf(body: ForeignBody, prefix: string): Message[] {
  return objects(unflattened(body, prefix)).map((message) => {
    const role = asText(message['role']) ?? (prefix === names.completion ? 'assistant' : 'user')
    const answered = asText(message['tool_call_id'])
    const content = asText(message['content'])
    if (role === 'tool')
      return {
        role,
        parts: [{ type: 'tool_call_response', ...(answered === undefined ? {} : { id: answered }), response: jsonOrText(content ?? '') }],
      }
    return { role, parts: [...contentParts(content), ...objects(message['tool_calls']).map(callPart)] }
  })
}

/** Text, or the provider's content blocks as JSON text. */
function contentParts(content: string | undefined): Part[] {
  if (content === undefined || content === '') return []
  const blocks = content.startsWith('[{') ? asArray(jsonOrText(content)) : []
  const typed = blocks.length > 0 && blocks.every((block) => asText(asObject(block)?.['type']) !== undefined)
  return typed ? blocks.map(readContentPart) : [{ type: 'text', content }]
}

function callPart(call: { [key: string]: Json }): Part {
  const id = asText(call['id'])
  return { type: 'tool_call', ...(id === undefined ? {} : { id }), name: asText(call['name']) ?? '', ...readArguments(call['arguments']) }
}
