// A rubric: weighted criteria, each with a grader. A score that could not be made is null, never 0.

import type { Episode } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Task, ToolSettings } from '../environment/types.ts'

const base = { name: z.string().min(1), weight: z.number().nonnegative().default(1) }

export const criterionSchema = z.discriminatedUnion('type', [
  /** The final answer equals `value`, or the task's reference output. */
  z.strictObject({ ...base, type: z.literal('equals'), value: z.json().exactOptional(), path: z.string().exactOptional() }),
  /** The final answer contains all of `values`, or the reference outputs. */
  z.strictObject({
    ...base,
    type: z.literal('contains'),
    values: z.array(z.string()).exactOptional(),
    caseSensitive: z.boolean().default(false),
  }),
  z.strictObject({ ...base, type: z.literal('matches'), pattern: z.string(), flags: z.string().default('') }),
  /** The final answer is JSON and fits `schema`. */
  z.strictObject({ ...base, type: z.literal('json'), schema: z.json().exactOptional() }),
  z.strictObject({
    ...base,
    type: z.literal('tool_called'),
    tool: z.string(),
    arguments: z.json().exactOptional(),
    min: z.int().nonnegative().default(1),
  }),
  z.strictObject({ ...base, type: z.literal('no_tool_called'), tools: z.array(z.string()).exactOptional() }),
  z.strictObject({ ...base, type: z.literal('tool_sequence'), tools: z.array(z.string()).min(1) }),
  /** Effectful calls that succeeded, as a multiset of name + canonical arguments, and required outputs in the text. */
  z.strictObject({ ...base, type: z.literal('actions'), outputs: z.boolean().default(true) }),
  z.strictObject({ ...base, type: z.literal('code'), code: z.string(), timeoutMs: z.int().positive().default(5_000) }),
  z.strictObject({
    ...base,
    type: z.literal('judge'),
    scale: z
      .union([z.literal('binary'), z.array(z.strictObject({ label: z.string(), value: z.number().min(0).max(1) })).min(2)])
      .default('binary'),
    instructions: z.string().min(1),
    /** One model, or a panel whose verdicts are averaged. */
    model: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    /** Verdicts asked of each model. */
    repeats: z.int().positive().default(1),
    /** Shows the judge what the right answer is known to be. */
    reference: z.boolean().default(false),
    /** OpenAI-compatible base URL. Absent: HOMEGROUND_JUDGE_URL, else OPENAI_BASE_URL. */
    url: z.url().exactOptional(),
    /** Name of the environment variable that holds the key. Absent: HOMEGROUND_JUDGE_API_KEY, else OPENAI_API_KEY. */
    apiKeyEnv: z.string().exactOptional(),
    /** Request parameters, e.g. { "temperature": 0 }. */
    parameters: z.record(z.string(), z.json()).exactOptional(),
    timeoutMs: z.int().positive().default(60_000),
  }),
  z.strictObject({ ...base, type: z.literal('feedback'), feedback: z.string(), max: z.number().positive().default(1) }),
  z.strictObject({ ...base, type: z.literal('cost'), max: z.number().positive() }),
  z.strictObject({ ...base, type: z.literal('latency'), max: z.number().positive() }),
  z.strictObject({ ...base, type: z.literal('steps'), max: z.int().positive() }),
])
export type Criterion = z.infer<typeof criterionSchema>
export type CriterionOf<Type extends Criterion['type']> = Extract<Criterion, { type: Type }>

export const rubricSchema = z.strictObject({ criteria: z.array(criterionSchema).min(1) })
export type Rubric = z.infer<typeof rubricSchema>

/** A criterion's result: value in [0, 1], or null with the reason. */
export interface Score {
  value: number | null
  weight: number
  reason: string
}

/** Pure but for `code` and `judge`. Never throws for what the episode holds: it answers null with the reason. */
export type Grader<C extends Criterion = Criterion> = (input: GraderInput<C>) => Score | Promise<Score>

export interface GraderInput<C extends Criterion = Criterion> {
  criterion: C
  episode: Episode
  task: Task
  tools: Record<string, ToolSettings>
  /** US dollars, where prices are known. */
  costUsd: number | undefined
}
