// The parser of episodes: strict on our own fields, lax on parts, since a part of a type that we do not know must survive. Types are in episode.ts; the last lines make the compiler compare both.
import { z } from 'zod'
import type { Episode, Feedback, Json, Message, ModelResponse, Part, Step, ToolDefinition } from './episode.ts'
import { isJson } from './json.ts'
import { parseInput } from './parse-input.ts'

const json = z.custom<Json>(isJson, 'expected a JSON value')
const jsonRecord = z.record(z.string(), json)
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`), `expected ${digits} lower-case hex digits`)
const instant = z.iso.datetime('expected ISO 8601 with a Z, like 2026-01-31T12:00:00.000Z')
const stepError = z.strictObject({ type: z.string(), message: z.string() })
const provider = z.looseObject({ name: z.string() }).catchall(json).exactOptional()

/** Required fields of the parts that have a meaning here; all other types and fields pass through. */
const knownParts: Record<string, z.ZodType> = {
  text: z.looseObject({ content: z.string(), provider }),
  reasoning: z.looseObject({ content: z.string(), provider }),
  refusal: z.looseObject({ content: z.string(), provider }),
  tool_call: z.looseObject({
    id: z.string().exactOptional(),
    name: z.string(),
    arguments: json,
    invalid: z.boolean().exactOptional(),
    raw: z.string().exactOptional(),
    provider,
  }),
  tool_call_response: z.looseObject({ id: z.string().exactOptional(), response: json, provider }),
}
const anyPart = z.looseObject({ type: z.string().min(1), provider })

const part = z.custom<Part>().superRefine((value: unknown, context) => {
  const shape = anyPart.safeParse(value)
  const parsed = shape.success ? (knownParts[shape.data.type]?.safeParse(value) ?? shape) : shape
  for (const issue of parsed.error?.issues ?? []) context.addIssue({ code: 'custom', message: issue.message, path: issue.path })
})

/** Parses one message. */
export const messageSchema: z.ZodType<Message> = z.strictObject({
  role: z.string().min(1),
  name: z.string().exactOptional(),
  parts: z.array(part),
  provider,
})

/** Parses a tool's definition. */
export const toolDefinitionSchema: z.ZodType<ToolDefinition> = z
  .object({ type: z.string().exactOptional(), name: z.string(), description: z.string().exactOptional(), parameters: json.exactOptional() })
  .catchall(json)

const usage = z.strictObject({
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  cacheReadTokens: z.number().exactOptional(),
  cacheWriteTokens: z.number().exactOptional(),
  reasoningTokens: z.number().exactOptional(),
})

const stepBase = {
  id: hex(16),
  parent: hex(16).exactOptional(),
  startedAt: instant,
  durationMs: z.number().nonnegative(),
  error: stepError.exactOptional(),
}

const request = {
  messages: z.array(messageSchema),
  tools: z.array(toolDefinitionSchema),
  parameters: jsonRecord,
}

const response: z.ZodType<ModelResponse> = z.strictObject({
  model: z.string().exactOptional(),
  id: z.string().exactOptional(),
  outputs: z.array(messageSchema),
  finishReasons: z.array(z.string()),
  usage,
})

const modelCall = {
  ...stepBase,
  kind: z.literal('model'),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  response: response.exactOptional(),
  partial: z.boolean().exactOptional(),
  attempts: z.int().positive().exactOptional(),
  chosen: z.int().nonnegative().exactOptional(),
  firstChunkMs: z.number().nonnegative().exactOptional(),
  tokens: z
    .strictObject({
      promptIds: z.array(z.int()),
      completionIds: z.array(z.int()),
      logprobs: z.array(z.number()).exactOptional(),
    })
    .exactOptional(),
}

const otherSteps = [
  z.strictObject({
    ...stepBase,
    kind: z.literal('tool'),
    name: z.string(),
    callId: z.string().exactOptional(),
    arguments: json,
    result: json.exactOptional(),
    effect: z.enum(['none', 'read', 'write', 'unknown']),
    offTape: z.string().exactOptional(),
  }),
  z.strictObject({
    ...stepBase,
    kind: z.literal('io'),
    name: z.string(),
    key: json.exactOptional(),
    result: json.exactOptional(),
  }),
  z.strictObject({
    ...stepBase,
    kind: z.literal('agent'),
    name: z.string(),
    input: json.exactOptional(),
    output: json.exactOptional(),
  }),
] as const

/** Parses one feedback of an episode. */
export const feedbackSchema: z.ZodType<Feedback> = z.strictObject({
  name: z.string().min(1),
  value: z.union([z.number(), z.boolean(), z.string()]),
  comment: z.string().exactOptional(),
  source: z.string(),
  at: instant,
  stepId: hex(16).exactOptional(),
})

const episode = {
  format: z.literal(1, 'expected 1; a newer Homeground may have written it'),
  id: hex(32),
  trace: hex(32),
  project: z.string(),
  agent: z
    .strictObject({ name: z.string(), version: z.string().exactOptional(), arguments: z.int().nonnegative().exactOptional() })
    .exactOptional(),
  session: z.string().exactOptional(),
  user: z.string().exactOptional(),
  tags: z.record(z.string(), z.string()),
  startedAt: instant,
  durationMs: z.number().nonnegative(),
  input: json.exactOptional(),
  output: json.exactOptional(),
  error: stepError.exactOptional(),
  feedback: z.array(feedbackSchema),
  source: z.strictObject({
    kind: z.enum(['trace', 'rollout', 'import']),
    ref: z.string().exactOptional(),
    run: z.string().exactOptional(),
    arm: z.string().exactOptional(),
    task: z.string().exactOptional(),
    repeat: z.int().nonnegative().exactOptional(),
  }),
}

const wholeStep = z.discriminatedUnion('kind', [z.strictObject({ ...modelCall, request: z.strictObject(request) }), ...otherSteps])
const lineStep = z.discriminatedUnion('kind', [
  z.strictObject({
    ...modelCall,
    request: z.strictObject({
      ...request,
      /** The first `count` messages equal the first `count` of that earlier step's messages followed by its chosen output. */
      prefix: z.strictObject({ step: hex(16), count: z.int().positive() }).exactOptional(),
      /** The definitions, or the earlier step that sent the same. */
      tools: z.union([z.array(toolDefinitionSchema), hex(16)]),
    }),
  }),
  ...otherSteps,
])

/** An episode in memory: every model call with all of its messages. */
export const episodeSchema: z.ZodType<Episode> = z.strictObject({ ...episode, steps: z.array(wholeStep) })

/** An episode as a file holds it: messages and tools as differences. `parseEpisodeLine` expands it. */
export const episodeLineSchema = z.strictObject({ ...episode, steps: z.array(lineStep) })
export type EpisodeLine = z.infer<typeof episodeLineSchema>

/** @throws HomegroundError invalid-input: the place, the field and what was expected there */
export function parseEpisode(value: unknown, place: string): Episode {
  return parseInput(episodeSchema, value, { place, what: 'an episode (format 1)' })
}

// Whatever the type says the schema takes, and the reverse (`z.ZodType<Episode>` above).
type StepTaken = z.input<typeof wholeStep>
export type SchemaTakesEveryStep = Step extends StepTaken ? true : never
const compared: SchemaTakesEveryStep = true
void compared
