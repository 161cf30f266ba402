// The run folder: run.json (what is needed to run it again), rollouts.jsonl (one a line), episodes.jsonl. The twin of docs/formats.md.

import { isJson, type Json } from '@homeground/sdk/trace'
import { z } from 'zod'
import { harnessSchema } from '../environment/types.ts'
import { billedSchema, usageSchema } from '../rubric/bill.ts'

const json = z.custom<Json>(isJson, 'expected a JSON value')

export const armSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected letters, digits, dot, dash or underscore'),
  /** The model's name at the endpoint; `recorded` answers with what the recording says (used by `env verify`). */
  model: z.string(),
  /** OpenAI-compatible base URL, e.g. http://127.0.0.1:8000/v1 */
  url: z.url().exactOptional(),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: z.string().exactOptional(),
  /** The endpoint's dialect. @default openai.chat */
  api: z.enum(['openai.chat', 'openai.responses', 'anthropic.messages']).exactOptional(),
  parameters: z.record(z.string(), json).exactOptional(),
  /** Values for `hg.variant(name, default)`. */
  variants: z.record(z.string(), json).exactOptional(),
  /** How many requests may be under way to its endpoint at once, from one machine. @default no limit */
  concurrency: z.int().positive().exactOptional(),
  /** Takes the environment folder's place where the harness's module or program is looked for: another checkout of the product. */
  cwd: z.string().exactOptional(),
})
export type Arm = z.infer<typeof armSchema>

export const runFileSchema = z.strictObject({
  format: z.literal(1),
  id: z.string(),
  environment: z.strictObject({ name: z.string(), folder: z.string(), hash: z.string() }),
  arms: z.array(armSchema).min(1),
  harness: harnessSchema,
  /** Which tasks, in order; the size of the run is fixed by this and `repeats`. */
  tasks: z.array(z.string()),
  repeats: z.int().positive(),
  seed: z.int(),
  /** How long recorded tool results and reads take, in times of what they took when recorded. @default no time (harness `module`: 1, on its own clock) */
  latency: z.number().positive().exactOptional(),
  /** Equivalence margin on the primary score, fixed before the run. @default 0.05 */
  margin: z.number().positive(),
  startedAt: z.string(),
  versions: z.record(z.string(), z.string()),
})
export type RunFile = z.infer<typeof runFileSchema>

export const scoreSchema = z.strictObject({ value: z.number().min(0).max(1).nullable(), weight: z.number(), reason: z.string() })

export const rolloutSchema = z.strictObject({
  task: z.string(),
  /** The cluster that statistics use. */
  session: z.string(),
  arm: z.string(),
  repeat: z.int().nonnegative(),
  scores: z.record(z.string(), scoreSchema),
  score: z.number().min(0).max(1).nullable(),
  offTape: z.strictObject({ count: z.int().nonnegative(), first: z.int().positive().exactOptional() }),
  unconsumedWrites: z.array(z.int()).exactOptional(),
  staleReads: z.int().exactOptional(),
  /** How many tool calls and reads a model answered in the tool's place. */
  simulated: z.int().exactOptional(),
  /** `simulated`: so many of those served are a model's words. */
  userTurns: z.strictObject({ served: z.int(), afterDivergence: z.int(), simulated: z.int().exactOptional() }).exactOptional(),
  divergence: z.strictObject({ step: z.int(), kind: z.string() }).exactOptional(),
  /** Request parameters that the arm's dialect could not say. */
  untranslated: z.array(z.string()).exactOptional(),
  /** How many of its model calls were answered out of the cache. */
  cachedCalls: z.int().positive().exactOptional(),
  usage: usageSchema,
  /** Of the arm's model alone. */
  costUsd: z.number().exactOptional(),
  /** What models took that answered for tools and user, and that judged: the test's own cost, not the arm's. */
  simulators: billedSchema.exactOptional(),
  judges: billedSchema.exactOptional(),
  durationMs: z.number(),
  error: z.strictObject({ type: z.string(), message: z.string() }).exactOptional(),
  /** Why it ended: `done`, `off-tape`, `timeout`, `max-steps`, `error`, … */
  stop: z.string(),
  /** Id of its episode in episodes.jsonl. */
  episode: z.string(),
})
export type Rollout = z.infer<typeof rolloutSchema>

/** A run folder, open for reading. */
export interface Run {
  folder: string
  file: RunFile
  /** All rollouts there are, in task, arm, repeat order when complete. */
  rollouts(): AsyncIterable<Rollout>
  episodes(): AsyncIterable<import('@homeground/sdk/trace').Episode>
  /** tasks x arms x repeats, and how many of them are there. */
  size: { planned: number; done: number }
}
