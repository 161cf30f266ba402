// The tools of one hg: their definitions for the model, and the service of a message's calls.

import type { Json } from '../trace/episode.ts'
import { HomegroundError } from '../trace/error.ts'
import type { Recorder } from './recorder.ts'
import { recordRefusal } from './tool.ts'
import { readToolCall, type ToolAnswer, type ToolCallLike } from './tool-call.ts'
import { warnHost } from './warn-host.ts'

/** What the registry needs of a tool. */
export interface RegisteredTool {
  readonly name: string
  readonly description: string | undefined
  readonly parameters: Json
  call(call: ToolCallLike): Promise<ToolAnswer>
}

/** A tool in a request of chat completions. */
export interface ChatToolDefinition {
  type: 'function'
  function: { name: string; description?: string; parameters: Record<string, unknown> }
}
/** A tool in a request of the Responses API. */
export interface ResponsesToolDefinition {
  type: 'function'
  name: string
  description?: string
  parameters: Record<string, unknown>
  strict: false
}
/** A tool in a request of Anthropic's Messages API. */
export interface MessagesToolDefinition {
  name: string
  description?: string
  input_schema: { type: 'object'; [key: string]: unknown }
}

/** Definitions of the tools made so far, in the form of a dialect; `names` picks some. @throws HomegroundError invalid-argument for an unknown API or name */
export interface ToolDefinitions {
  (api?: 'openai.chat', names?: readonly string[]): ChatToolDefinition[]
  (api: 'openai.responses', names?: readonly string[]): ResponsesToolDefinition[]
  (api: 'anthropic.messages', names?: readonly string[]): MessagesToolDefinition[]
}

export class ToolRegistry {
  private readonly recorder: Recorder | undefined
  private readonly tools = new Map<string, RegisteredTool>()
  /** Names that several tools have. */
  private readonly repeated = new Set<string>()

  constructor(recorder: Recorder | undefined) {
    this.recorder = recorder
  }

  /** A later tool of the same name takes the place of the earlier one. */
  add(tool: RegisteredTool): void {
    if (this.tools.has(tool.name)) this.repeated.add(tool.name)
    this.tools.set(tool.name, tool)
  }

  /** @throws HomegroundError invalid-argument for a name that is no tool's */
  named(names: readonly string[] | undefined): RegisteredTool[] {
    if (names === undefined) return [...this.tools.values()]
    return names.map((name) => {
      const tool = this.tools.get(name)
      if (tool !== undefined) return tool
      throw new HomegroundError('invalid-argument', `there is no tool ${name}; there are: ${[...this.tools.keys()].join(', ')}`, {
        hint: 'Make it with hg.tool({ name, … }) before asking for its definition.',
      })
    })
  }

  /** For a request's `tools`. */
  definitions(): ToolDefinitions {
    const named = (names: readonly string[] | undefined) => this.named(names)
    function definitions(api?: 'openai.chat', names?: readonly string[]): ChatToolDefinition[]
    function definitions(api: 'openai.responses', names?: readonly string[]): ResponsesToolDefinition[]
    function definitions(api: 'anthropic.messages', names?: readonly string[]): MessagesToolDefinition[]
    function definitions(
      api?: string,
      names?: readonly string[],
    ): ChatToolDefinition[] | ResponsesToolDefinition[] | MessagesToolDefinition[] {
      const picked = named(names)
      if (api === 'openai.responses') return picked.map(responsesDefinition)
      if (api === 'anthropic.messages') return picked.map(messagesDefinition)
      if (api === undefined || api === 'openai.chat') return picked.map(chatDefinition)
      throw new HomegroundError('invalid-argument', `there are no tool definitions for an API ${String(api)}`, {
        hint: 'Ask for openai.chat, openai.responses or anthropic.messages.',
      })
    }
    return definitions
  }

  /** Serves the call by the tool of its name; an unknown one is an error for the model. */
  async call(call: ToolCallLike): Promise<ToolAnswer> {
    const { name, callId, value, written } = readToolCall(call)
    const tool = this.tools.get(name)
    if (this.repeated.has(name) && this.recorder !== undefined) warnHost(this.recorder, manyOf(name))
    if (tool !== undefined) return await tool.call(call)
    const content = `Error: there is no tool ${name}`
    if (this.recorder !== undefined) {
      recordRefusal(this.recorder, { name, effect: 'unknown' }, callId, value ?? written, { type: 'unknown_tool', message: content })
    }
    return { callId, name, content, isError: true, result: undefined }
  }
}

/** One made for each request holds that request's user: two at once, and one is served with the other's. */
function manyOf(name: string): string {
  return `callTool() serves ${name} by the last of several tools of that name. Make each tool once, or keep what hg.tool() gave and call its own call(call)`
}

function chatDefinition({ name, description, parameters }: RegisteredTool): ChatToolDefinition {
  return { type: 'function', function: { name, ...(description === undefined ? {} : { description }), parameters: schemaOf(parameters) } }
}

function responsesDefinition({ name, description, parameters }: RegisteredTool): ResponsesToolDefinition {
  return { type: 'function', name, ...(description === undefined ? {} : { description }), parameters: schemaOf(parameters), strict: false }
}

function messagesDefinition({ name, description, parameters }: RegisteredTool): MessagesToolDefinition {
  return { name, ...(description === undefined ? {} : { description }), input_schema: { ...schemaOf(parameters), type: 'object' } }
}

function schemaOf(parameters: Json): Record<string, unknown> {
  return typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters) ? parameters : { type: 'object' }
}
