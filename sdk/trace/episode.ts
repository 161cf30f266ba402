// What an episode is: one run of an agent, as types. The twin of docs/formats.md; the parser is in episode-schema.ts.

/** Any JSON value. Integers beyond 2^53 keep their text in a part's `raw`. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** One agent span with no agent above it in its trace, and all beneath it. */
export interface Episode {
  format: 1
  /** 32 hex. The trace id, or the first 32 hex of sha256(trace id + span id) where a trace holds several episodes. */
  id: string
  /** OpenTelemetry trace id, 32 hex. */
  trace: string
  project: string
  /** `arguments`: how many it was called with, where that is not one. */
  agent?: { name: string; version?: string; arguments?: number }
  /** `session.id`, else `gen_ai.conversation.id`. Statistics cluster by it; splits never part it. */
  session?: string
  user?: string
  tags: Record<string, string>
  /** ISO 8601 with milliseconds. */
  startedAt: string
  durationMs: number
  /** The agent function's own argument (a list of them where `agent.arguments` says so) and result. */
  input?: Json
  output?: Json
  error?: StepError
  /** By start time, ties by span order. */
  steps: Step[]
  feedback: Feedback[]
  source: EpisodeSource
}

/** Where an episode comes from. */
export interface EpisodeSource {
  kind: 'trace' | 'rollout' | 'import'
  ref?: string
  run?: string
  arm?: string
  task?: string
  repeat?: number
}

/** One step of an episode, told apart by `kind`. */
export type Step = ModelCall | ToolCall | IoRead | AgentCall

/** What every step has. */
export interface StepBase {
  /** Span id, 16 hex. */
  id: string
  /** Span id of the step (or agent) that it ran under. */
  parent?: string
  startedAt: string
  durationMs: number
  error?: StepError
}

/** `type`: an HTTP status as a string, else the event's code or type, else the exception's name. */
export interface StepError {
  type: string
  message: string
}

/** A call of a model, its HTTP attempts folded into one. */
export interface ModelCall extends StepBase {
  kind: 'model'
  /** The wire dialect: `openai.chat`, `openai.responses`, `anthropic.messages`, or another's name. */
  api: string
  provider: string
  model: string
  request: ModelRequest
  /** Absent where the call was answered by an error. */
  response?: ModelResponse
  /** Left early by the caller, or the body ended without its terminal marker. */
  partial?: boolean
  /** HTTP attempts folded into this call; absent means one. */
  attempts?: number
  /** Index of the output that the run went on with; absent means 0. */
  chosen?: number
  firstChunkMs?: number
  tokens?: { promptIds: number[]; completionIds: number[]; logprobs?: number[] }
}

/** What a model was asked. */
export interface ModelRequest {
  /** System instructions are the first message. */
  messages: Message[]
  tools: ToolDefinition[]
  parameters: Record<string, Json>
}

/** What a model answered. */
export interface ModelResponse {
  model?: string
  id?: string
  /** One a choice. */
  outputs: Message[]
  /** One a choice: stop, length, content_filter, tool_call, error, or the provider's own word. */
  finishReasons: string[]
  usage: Usage
}

/** A call of a tool that the product ran. */
export interface ToolCall extends StepBase {
  kind: 'tool'
  name: string
  callId?: string
  /** As the model sent them, before schema defaults and transforms. */
  arguments: Json
  result?: Json
  effect: Effect
  /** In a rollout: how the call left the tape (the miss policy that answered). */
  offTape?: string
}

/** What a tool does to the world; `unknown` is treated as `write` wherever it matters. */
export type Effect = 'none' | 'read' | 'write' | 'unknown'

/** What the product read without the model asking: `hg.io(name, fn, { key })`. */
export interface IoRead extends StepBase {
  kind: 'io'
  name: string
  key?: Json
  result?: Json
}

/** An agent that ran inside another. */
export interface AgentCall extends StepBase {
  kind: 'agent'
  name: string
  input?: Json
  output?: Json
}

/** One message of a conversation. */
export interface Message {
  role: string
  name?: string
  parts: Part[]
  /** What a provider adds to a message, with the same rule as for parts. */
  provider?: ProviderExtra
}

/** What a provider adds (signature, encrypted_content, item id), byte for byte; dropped when another provider's model is put in. */
export interface ProviderExtra {
  /** The dialect that reads and writes it: `openai.chat`. */
  name: string
  [key: string]: Json
}

/** The GenAI conventions' parts (v1.41). Unknown types and fields survive a round trip. */
export type Part = TextPart | ReasoningPart | ToolCallPart | ToolCallResponsePart | RefusalPart | OtherPart

/** What every part may have. */
export interface PartBase {
  provider?: ProviderExtra
}
/** Text. */
export interface TextPart extends PartBase {
  type: 'text'
  content: string
}
/** What a model thought, where its API says it. */
export interface ReasoningPart extends PartBase {
  type: 'reasoning'
  content: string
}
/** A call that a model asks for. */
export interface ToolCallPart extends PartBase {
  type: 'tool_call'
  id?: string
  name: string
  /** The parsed value; where the model wrote bad JSON the string as it was, with `invalid: true`. */
  arguments: Json
  invalid?: boolean
  /** The text as written, kept where an integer beyond 2^53 would be lost. */
  raw?: string
}
/** A tool's answer, as the model is told it. */
export interface ToolCallResponsePart extends PartBase {
  type: 'tool_call_response'
  id?: string
  response: Json
}
/** A model's refusal. */
export interface RefusalPart extends PartBase {
  type: 'refusal'
  content: string
}
/** blob, uri, file and, at run time, whatever type a provider invents: the literals are named so that the others narrow. */
export interface OtherPart extends PartBase {
  type: 'blob' | 'uri' | 'file'
  [key: string]: unknown
}

/** Tokens. Missing is absent, never 0. `inputTokens` includes cached ones, `outputTokens` reasoning ones. */
export interface Usage {
  inputTokens?: number
  outputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
}

/** Flat, as in the GenAI conventions. `parameters` is a JSON Schema. */
export interface ToolDefinition {
  type?: string
  name: string
  description?: string
  parameters?: Json
  [key: string]: Json | undefined
}

/** What somebody thought of an episode or a step. */
export interface Feedback {
  name: string
  value: number | boolean | string
  comment?: string
  /** Who said it: `user`, `human`, `model`, a grader's name. */
  source: string
  /** ISO 8601. */
  at: string
  /** Span id that it is about; absent = the episode. */
  stepId?: string
}
