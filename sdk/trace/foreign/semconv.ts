// Spans of other instrumentations that follow the GenAI semantic conventions: messages as JSON in attributes (v1.37 and later, and before v1.28), or on events of the span.

import { genAi } from '../attributes.ts'
import type { Json, Message, Part } from '../episode.ts'
import { finishReason } from '../finish-reason.ts'
import { asArray, asObject, asText } from '../json.ts'
import { partOfFields } from '../part.ts'
import type { SpanAttributes } from '../span-attributes.ts'
import { objects, parsed } from './flattened.ts'
import { legacyMessages } from './legacy-messages.ts'
import { requestParameters, requestPrefixes } from './request-parameters.ts'
import { toolDefinition } from './tool-definition.ts'
import type { ForeignBody, ForeignReader } from './types.ts'

const names = [genAi.systemInstructions, genAi.toolDefinitions, genAi.inputMessages, genAi.outputMessages]

export const semconv: ForeignReader = {
  api: 'semconv',
  // Its kinds and columns are the conventions' own names, which every span is read by.
  columns: () => undefined,
  readRequest: (body) => ({
    model: '',
    messages: [...instructions(parsed(body[genAi.systemInstructions])), ...input(body)],
    tools: asArray(parsed(body[genAi.toolDefinitions])).flatMap((tool) => toolDefinition(tool) ?? []),
    parameters: requestParameters(body),
  }),
  readOutputs: (body) => {
    const sent = body[genAi.outputMessages]
    return sent === undefined ? legacyMessages(body[genAi.legacyCompletion], 'assistant') : objects(parsed(sent)).map(messageOf)
  },
  readFinishReasons: (body) => {
    const reasons = objects(parsed(body[genAi.outputMessages])).map((message) => asText(message['finish_reason']))
    return reasons.length > 0 && reasons.every((reason) => reason !== undefined) ? reasons.map(finishReason) : undefined
  },
}

/** The body of a model call's row: its messages, where content was captured, and its parameters; '' where there is neither. */
export function semconvBody(attributes: SpanAttributes): string {
  const body: Record<string, Json> = { ...attributes.json(requestPrefixes), ...attributes.json(names) }
  for (const name of [genAi.legacyPrompt, genAi.legacyCompletion]) {
    const text = attributes.text(name)
    if (text !== '') body[name] = text
  }
  // The model has a column of its own.
  return Object.keys(body).every((name) => name === genAi.requestModel) ? '' : JSON.stringify(body)
}

/** Beside a body of ours (`emitMessages`) the messages say the same once more: they are taken and let go. */
export function dropMessages(attributes: SpanAttributes): void {
  attributes.json(names)
}

function input(body: ForeignBody): Message[] {
  const sent = body[genAi.inputMessages]
  return sent === undefined ? legacyMessages(body[genAi.legacyPrompt], 'user') : objects(parsed(sent)).map(messageOf)
}

function instructions(value: Json | undefined): Message[] {
  const parts = typeof value === 'string' ? [{ type: 'text' as const, content: value }] : objects(value).map(partOf)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function messageOf(sent: { [key: string]: Json }): Message {
  const name = asText(sent['name'])
  const content = sent['content']
  const parts =
    sent['parts'] === undefined && typeof content === 'string' ? [{ type: 'text' as const, content }] : objects(sent['parts']).map(partOf)
  return { role: asText(sent['role']) ?? 'user', ...(name === undefined ? {} : { name }), parts }
}

/** The conventions' parts are ours, but for a tool's answer, which was `result` before it was `response`, and for nulls, which say nothing. */
function partOf(part: { [key: string]: Json }): Part {
  const sent = Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null))
  if (sent['type'] === 'tool_call_response') {
    const { result, ...rest } = sent
    return { ...rest, type: 'tool_call_response', response: rest['response'] ?? result ?? null }
  }
  if (sent['type'] === 'tool_call')
    return {
      ...sent,
      type: 'tool_call',
      name: asText(sent['name']) ?? '',
      arguments: parsed(sent['arguments']) ?? asObject(sent['input']) ?? {},
    }
  // Parts of other types pass as they are.
  return partOfFields(sent)
}
