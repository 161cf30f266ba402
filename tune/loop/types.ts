// loop.json: what each step of an iteration is given. Options are those of the step's own command, by their long names.
import { z } from 'zod'
import { gateRulesSchema } from '../gate/index.ts'

/** `{ "split-by": "user", "redacted": true, "tag": ["a=b", "c=d"] }` becomes `--split-by user --redacted --tag a=b --tag c=d`. */
const optionsSchema = z.record(z.string().regex(/^[a-z][a-z-]*$/), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
export type CommandOptions = z.infer<typeof optionsSchema>

export const loopFileSchema = z.strictObject({
  format: z.literal(1).default(1),
  /** Iterations, models and the ledger lie in `.homeground/loops/NAME`. */
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  collect: z.strictObject({
    /** Project in the store. */
    project: z.string(),
    /** An iteration begins only with so many episodes more than the one before it had. */
    newEpisodes: z.int().nonnegative().default(1),
  }),
  /** Options of `env build`. */
  build: optionsSchema.default({}),
  /** Share of tasks that must be reproduced. */
  verify: z.strictObject({ threshold: z.number().min(0).max(1).default(0.95) }).prefault({}),
  /** An environment in which `env audit` finds a hole ends the iteration: what can be cheated would be learned. False leaves the audit out. */
  audit: z.boolean().default(true),
  /** Whose rollouts on the training tasks become rows; options of `run`. Absent: the recorded episodes are the rows. */
  rollouts: optionsSchema.exactOptional(),
  /** Options of `dataset`; its format is the recipe's where none is given. */
  dataset: optionsSchema.default({}),
  tune: z.strictObject({
    recipe: z.enum(['sft', 'dpo', 'kto']).default('sft'),
    /** The model that every iteration trains from. */
    base: z.string(),
    /** Fields of the trainer's settings: `optimizer.epochs`. */
    settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  }),
  gate: z.strictObject({ rules: gateRulesSchema.prefault({}), options: optionsSchema.default({}) }).prefault({}),
  stop: z
    .strictObject({
      iterations: z.int().positive().default(10),
      /** Iterations in a row that may end without a promotion. */
      patience: z.int().positive().default(2),
    })
    .prefault({}),
})
export type LoopFile = z.infer<typeof loopFileSchema>

/** The steps of an iteration, in order. `select` holds the new model against the live one on `validation`; only `gate` opens `test`. */
export const stepNames = ['collect', 'build', 'verify', 'audit', 'rollouts', 'dataset', 'tune', 'select', 'gate'] as const
export type StepName = (typeof stepNames)[number]

export interface PlannedStep {
  name: StepName
  /** Arguments of `homeground`. */
  command: string[]
  /** What it costs, as far as it is known before. */
  cost: string
}

/** One line of ledger.jsonl: an iteration that ended. */
export const iterationSchema = z.strictObject({
  iteration: z.int().positive(),
  startedAt: z.string(),
  endedAt: z.string(),
  episodes: z.int().nonnegative(),
  /** `promoted`, or the step that said no. */
  outcome: z.enum(['promoted', 'verify', 'audit', 'dataset', 'select', 'gate']),
  baseline: z.string(),
  candidate: z.string(),
  scores: z.strictObject({ baseline: z.number().nullable(), candidate: z.number().nullable() }).exactOptional(),
  /** How many were played for rows, and what they cost, where prices are known. */
  rollouts: z.strictObject({ count: z.int().nonnegative(), costUsd: z.number().nonnegative().exactOptional() }).exactOptional(),
  seconds: z.record(z.string(), z.number()),
})
export type Iteration = z.infer<typeof iterationSchema>
