// What a gate is made of: gate.json (the rules), the promotion record, and one line of the ledger.
import { z } from 'zod'

const share = z.number().min(0).max(1)

/** gate.json. Every field has a default: an empty object is a gate. */
export const gateRulesSchema = z.strictObject({
  format: z.literal(1).default(1),
  split: z.enum(['validation', 'test']).default('test'),
  /** Times that each arm plays each task. */
  repeats: z.int().positive().default(1),
  /** The lower end of the interval of the score's difference has to be above it. */
  minimalGain: z.number().min(0).max(1).default(0),
  /** Criteria that must not get worse: the lower end of each one's interval has to be above -margin. */
  nonInferior: z.record(z.string(), z.strictObject({ margin: share })).default({}),
  /** Mean cost of the candidate over that of the baseline, at most. */
  costRatio: z.number().positive().exactOptional(),
  /** p95 of a rollout's duration, candidate over baseline, at most. */
  latencyRatio: z.number().positive().exactOptional(),
  /** Share of the candidate's rollouts that may end in an error. */
  errorShare: share.default(0.05),
  /** Share of the candidate's rollouts with off-tape calls, at most. */
  offTapeShare: share.exactOptional(),
  /** The environment has been audited (`homeground env audit`) since its last build, and found clean. */
  audit: z.boolean().default(false),
})
export type GateRules = z.infer<typeof gateRulesSchema>

const checkSchema = z.strictObject({ rule: z.string(), passed: z.boolean(), says: z.string() })
export type GateCheck = z.infer<typeof checkSchema>

const sideSchema = z.strictObject({
  /** As it was given: a folder or a model's name. */
  model: z.string(),
  /** Of the folder's files, or of name and URL. */
  sha256: z.string(),
  score: z.number().nullable(),
})

/** PROMOTION.json in the gate's run folder: all that the decision rests on. */
export const promotionSchema = z.strictObject({
  format: z.literal(1),
  at: z.string(),
  promoted: z.boolean(),
  verdict: z.enum(['better', 'worse', 'equivalent', 'inconclusive', 'none']),
  sentence: z.string(),
  checks: z.array(checkSchema),
  /** Of the difference of scores, at the level of this gate. */
  interval: z.strictObject({ delta: z.number(), low: z.number().nullable(), high: z.number().nullable(), level: z.number() }),
  baseline: sideSchema,
  candidate: sideSchema,
  environment: z.strictObject({ name: z.string(), hash: z.string() }),
  split: z.string(),
  testHash: z.string(),
  /** The how many-th gate on this split this was. */
  gate: z.int().positive(),
  rules: gateRulesSchema,
  run: z.string(),
  versions: z.record(z.string(), z.string()),
})
export type Promotion = z.infer<typeof promotionSchema>

/** One line of gates.jsonl: one opens a gate, a second says what came of it. */
export const ledgerLineSchema = z.strictObject({
  at: z.string(),
  /** The same gate again (same models, environment and rules) is the same entry. */
  id: z.string(),
  testHash: z.string(),
  /** What it was told when it was opened; only for who reads the file: its place in the file is what counts. */
  gate: z.int().positive().exactOptional(),
  baseline: z.string(),
  candidate: z.string(),
  /** Absent while the gate runs: looking costs, whatever comes of it. */
  promoted: z.boolean().exactOptional(),
  verdict: z.string().exactOptional(),
  run: z.string(),
})
export type LedgerLine = z.infer<typeof ledgerLineSchema>
/** What is known of a gate before it looks. */
export type GateLook = Omit<LedgerLine, 'gate' | 'promoted' | 'verdict'>
/** A gate with its number among those on the same split, from 1. */
export type LedgerEntry = LedgerLine & { gate: number }
