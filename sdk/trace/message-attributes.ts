// The GenAI conventions' message attributes, made from the bodies that a model span carries: for backends that do not read vendors' bodies.
import { genAi } from './attributes.ts'
import { dialectOf } from './dialects/index.ts'
import type { Json, Message, Part, ToolDefinition } from './episode.ts'
import { asObject, parseWellFormed } from './json.ts'
import type { Attributes } from './span.ts'

/** Dialects that say system instructions beside the conversation: the conventions keep them apart then. */
const instructionsApart = ['anthropic.messages', 'openai.responses']

/**
 * `gen_ai.system_instructions`, `gen_ai.tool.definitions`, `gen_ai.input.messages` and `gen_ai.output.messages` (v1.41), each as JSON text; none for
 * what was not said, or is in no dialect that is known. What a provider added to a part (signatures, item ids) is left out.
 */
export function messageAttributes(api: string, requestBody: string | undefined, responseBody: string | undefined): Attributes {
  const dialect = dialectOf(api)
  if (dialect === undefined) return {}
  const attributes: Attributes = {}
  const add = (name: string, items: readonly object[]): void => {
    if (items.length > 0) attributes[name] = JSON.stringify(items)
  }
  const sent = asObject(bodyOf(requestBody))
  if (sent !== undefined) {
    const { messages, tools } = dialect.readRequest(sent)
    const first = messages[0]
    const apart = first?.role === 'system' && instructionsApart.includes(api)
    add(genAi.systemInstructions, apart ? first.parts.map(plainPart) : [])
    add(genAi.inputMessages, messages.slice(apart ? 1 : 0).map(plainMessage))
    add(genAi.toolDefinitions, tools.map(plainTool))
  }
  const answer = asObject(bodyOf(responseBody))
  const response = answer === undefined ? undefined : dialect.readResponse(answer)
  if (response !== undefined) {
    const { outputs, finishReasons } = response
    add(
      genAi.outputMessages,
      outputs.map((output, index) => ({ ...plainMessage(output), finish_reason: finishReasons[index] ?? 'error' })),
    )
  }
  return attributes
}

function bodyOf(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : parseWellFormed(text)
}

function plainMessage({ provider: _, parts, ...message }: Message): object {
  return { ...message, parts: parts.map(plainPart) }
}

function plainPart({ provider: _, ...part }: Part): object {
  return part
}

function plainTool({ type, ...tool }: ToolDefinition): object {
  return { type: type ?? 'function', ...tool }
}
