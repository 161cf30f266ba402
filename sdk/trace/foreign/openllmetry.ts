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
import { requestParameters, requestPrefixes } from './request-parameters.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignReader } from './types.ts'

/** One of them is on every model call whose content was captured; `llm.request.type` came and went. */
const indexed = [names.prompt, names.completion].flatMap((prefix) => [`${prefix}0.role`, `${prefix}0.content`])

export const openLlmetry: ForeignReader = {
  api: 'openllmetry',
  columns: (attributes, name) => {
    const { session_id = '', user_id = '', ...tags } = attributes.under(names.association)
    const shared = { ...defined({ session: session_id, user: user_id }), tags }
    if (attributes.has(names.requestType) || indexed.some((name) => attributes.has(name))) {
      attributes.text(names.requestType)
      attributes.text(names.streaming)
      const body = attributes.json([names.prompt, names.completion, names.functions, ...requestPrefixes])
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
        return { ...shared, kind: 'tool', toolName: entity, arguments: argumentsOf(input), result: output }
      default:
        return { ...shared, kind: 'other' }
    }
  },
  readRequest: (body) => ({
    model: '',
    messages: messagesOf(body, names.prompt),
    tools: objects(unflattened(body, names.functions)).flatMap((tool) => toolDefinition(withParameters(tool)) ?? []),
    parameters: requestParameters(body),
  }),
  readOutputs: (body) => messagesOf(body, names.completion).map((message) => ({ ...message, role: message.role || 'assistant' })),
}

/** Before 0.13 a function's parameters were its `arguments`. */
function withParameters({ arguments: before, ...tool }: { [key: string]: Json }): Json {
  return before === undefined ? tool : { parameters: before, ...tool }
}

/** A decorated tool's input is `{ args, kwargs }`: where it got one object, or named arguments alone, these are what the model asked for. */
function argumentsOf(input: string): string {
  const called = asObject(jsonOrText(input))
  const [args, named] = [asArray(called?.['args']), asObject(called?.['kwargs'])]
  if (called === undefined || named === undefined || Object.keys(called).length > 2) return input
  if (args.length === 0) return JSON.stringify(named)
  return args.length === 1 && asObject(args[0]) !== undefined && Object.keys(named).length === 0 ? JSON.stringify(args[0]) : input
}

function messagesOf(body: ForeignBody, prefix: string): Message[] {
  return objects(unflattened(body, prefix)).map((message) => {
    const role = asText(message['role']) ?? (prefix === names.completion ? 'assistant' : 'user')
    const answered = asText(message['tool_call_id'])
    const sent = asText(message['content'])
    // Before 0.13 an assistant's missing content was written as JSON.
    const content = role === 'assistant' && sent === 'null' ? undefined : sent
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
