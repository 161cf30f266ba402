// The environment folder, file by file: the schemas that read it, and the types they give. The twin of docs/formats.md.

import { isJson, type Json } from '@homeground/sdk/trace'
import { z } from 'zod'

const json = z.custom<Json>(isJson, 'expected a JSON value')
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex characters')

export const effectSchema = z.enum(['none', 'read', 'write', 'unknown'])
export const splitSchema = z.enum(['train', 'validation', 'test'])
export type Split = z.infer<typeof splitSchema>

const toolModeSchema = z.enum(['tape', 'live', 'mock', 'simulate'])
const missPolicySchema = z.enum(['error', 'fail', 'nearest', 'simulate'])

export const toolSettingsSchema = z.strictObject({
  effect: effectSchema.exactOptional(),
  mode: toolModeSchema.default('tape'),
  onMiss: missPolicySchema.default('error'),
  ignoreArguments: z.array(z.string()).exactOptional(),
  redact: z.array(z.strictObject({ path: z.string(), replace: z.string() })).exactOptional(),
  /** file#function, relative to the environment folder. */
  mock: z.string().exactOptional(),
})
export type ToolSettings = z.infer<typeof toolSettingsSchema>

/** What a person says of a tool over what the recordings say. */
export const toolOverrideSchema = toolSettingsSchema.extend({
  mode: toolModeSchema.exactOptional(),
  onMiss: missPolicySchema.exactOptional(),
})
export type ToolOverride = z.infer<typeof toolOverrideSchema>

/** What one rollout may take. Out of steps or money it ends there and is scored as it stands; out of time it has no score, since an endpoint or a machine may be what was slow. */
const budgets = {
  /** Model calls. */
  maxSteps: z.int().positive().exactOptional(),
  /** US dollars of model calls; the call that goes over it is the last. */
  maxCostUsd: z.number().positive().exactOptional(),
}
const timeoutMs = z.int().positive()

/** `module`: the product's own agent function. `loop`: system prompt + tools + user turns. `turn`: each recorded decision by itself. `command`: any program. */
export const harnessSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('turn'), ...budgets, timeoutMs: timeoutMs.exactOptional() }),
  z.strictObject({ kind: z.literal('loop'), ...budgets, maxSteps: z.int().positive().default(50), timeoutMs: timeoutMs.exactOptional() }),
  z.strictObject({
    kind: z.literal('module'),
    /** file#export, relative to the environment folder or absolute: an async function that gets the task's input. */
    module: z.string(),
    ...budgets,
    timeoutMs: timeoutMs.default(120_000),
    /** Hosts, with or without a port, that the product may reach in a replay. @default none */
    allowNetwork: z.array(z.string()).exactOptional(),
    /** Processes and threads of the product's own may be started in a replay, though nothing of what they do is seen. @default false */
    allowProcesses: z.boolean().exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('command'),
    command: z.array(z.string()).min(1),
    /** Where it runs, relative to the environment folder. @default the environment folder */
    cwd: z.string().exactOptional(),
    env: z.record(z.string(), z.string()).exactOptional(),
    ...budgets,
    timeoutMs: timeoutMs.default(120_000),
  }),
])
export type HarnessSettings = z.infer<typeof harnessSchema>

/** The model that answers for tools of mode or miss policy `simulate`: an endpoint as an arm has one. */
const simulatorSchema = z.strictObject({
  model: z.string(),
  url: z.url().exactOptional(),
  apiKeyEnv: z.string().exactOptional(),
  /** @default openai.chat */
  api: z.enum(['openai.chat', 'openai.responses', 'anthropic.messages']).exactOptional(),
  parameters: z.record(z.string(), json).exactOptional(),
})

export const environmentSchema = z.strictObject({
  format: z.literal(1),
  name: z.string().min(1),
  version: z.string(),
  /** Over tasks, tapes, rubric and all here that changes what a rollout does (hash.ts). */
  hash,
  built: z.strictObject({ at: z.string(), homeground: z.string(), query: json }),
  unit: z.enum(['turn', 'episode', 'session']),
  harness: harnessSchema,
  tools: z.record(z.string(), toolSettingsSchema),
  simulator: simulatorSchema.exactOptional(),
  user: z.strictObject({ mode: z.enum(['none', 'recorded', 'simulate']) }),
  rubric: z.string(),
  splits: z.strictObject({ train: z.number(), validation: z.number(), test: z.number() }),
  splitBy: z.enum(['session', 'user']).default('session'),
  counts: z.record(z.string(), z.int()),
  provenance: z.strictObject({
    projects: z.array(z.string()),
    from: z.string(),
    to: z.string(),
    redacted: z.boolean(),
    licence: z.string().exactOptional(),
  }),
})
export type EnvironmentFile = z.infer<typeof environmentSchema>

export const actionSchema = z.strictObject({ name: z.string(), arguments: json })
export type Action = z.infer<typeof actionSchema>

export const referenceSchema = z.strictObject({
  output: json.exactOptional(),
  /** Texts that messages to the user must contain. */
  outputs: z.array(z.string()).exactOptional(),
  actions: z.array(actionSchema).exactOptional(),
  score: z.number().exactOptional(),
  feedback: z.record(z.string(), z.union([z.number(), z.boolean(), z.string()])).exactOptional(),
})
export type Reference = z.infer<typeof referenceSchema>

export const taskSchema = z.strictObject({
  /** Stable across builds: trace id, and turn. */
  id: z.string().min(1),
  hash,
  split: splitSchema,
  session: z.string(),
  /** The agent function's argument (harness `module`, `command`); with unit `session` a list, one for each run. */
  input: json.exactOptional(),
  /** How many arguments the function got, a number a run; where it is not 1, the run's input is the list of them. Absent = one each. */
  arguments: z.array(z.int().nonnegative()).exactOptional(),
  /** Canonical messages: the prompt, and for `loop` the recorded user turns, in order. Episode's Message schema. */
  messages: z.array(json).exactOptional(),
  /** How `messages` are served: the first so many are the prompt, the next so many follow the first message to the user, and so on. Absent = all are the prompt. */
  turns: z.array(z.int().positive()).exactOptional(),
  /** The recorded request's other parameters (temperature, max_tokens, …), sent unless the arm says otherwise (harness `loop`, `turn`). */
  parameters: z.record(z.string(), json).exactOptional(),
  /** Flat tool definitions. */
  tools: z.array(json).exactOptional(),
  reference: referenceSchema.exactOptional(),
  tags: z.record(z.string(), z.string()),
  /** Where the recording is: its trace, when it started, and which of its model calls (harness `turn`). */
  source: z.strictObject({
    trace: z.string(),
    episode: z.string().exactOptional(),
    startedAt: z.string().exactOptional(),
    step: z.string().exactOptional(),
  }),
})
export type Task = z.infer<typeof taskSchema>

export const tapeEntrySchema = z.strictObject({
  /** From 1. */
  seq: z.int().positive(),
  kind: z.enum(['tool', 'io']),
  name: z.string(),
  arguments: json,
  /** Of the canonical arguments. */
  hash,
  result: json.exactOptional(),
  error: z.strictObject({ type: z.string(), message: z.string() }).exactOptional(),
  durationMs: z.number(),
  effect: effectSchema,
  callId: z.string().exactOptional(),
  /** The sub-agent's name; absent = the main agent. */
  lane: z.string().exactOptional(),
  /** In which user turn it was recorded, from 0. */
  turn: z.int().nonnegative().exactOptional(),
  /** The recorded run ended after this call (a hand-over, say): so does a loop that makes it. */
  ends: z.literal(true).exactOptional(),
})
export type TapeEntry = z.infer<typeof tapeEntrySchema>

export const tapeSchema = z.strictObject({ task: z.string(), entries: z.array(tapeEntrySchema) })
export type TaskTape = z.infer<typeof tapeSchema>

/** An environment folder, open for reading. Tasks and tapes stream: nothing is held whole. */
export interface Environment {
  /** Absolute. */
  folder: string
  file: EnvironmentFile
  rubric: import('../rubric/types.ts').Rubric
  /** How many tasks there are. */
  size: number
  /** In file order. */
  tasks(filter?: { split?: Split; ids?: readonly string[] }): AsyncIterable<Task>
  task(taskId: string): Promise<Task | undefined>
  tape(taskId: string): Promise<TaskTape>
  /** False for an environment whose tasks were written, not recorded. */
  hasRecordings: boolean
  /** The recorded episode of a task (recordings.jsonl.gz beside the tasks), for `env verify` and the report. */
  recording(taskId: string): Promise<import('@homeground/sdk/trace').Episode | undefined>
  close(): Promise<void>
}
