// What a comparison holds: arms, and each candidate against the baseline. report.json is this object; report.html shows it.
import type { PassRates } from './pass-rates.ts'
import type { PrimaryEstimate, Verdict } from './verdict.ts'

/** One scored try of one arm at one task: a rollout, or a recorded episode. */
export interface Outcome {
  task: string
  /** The cluster that statistics use. */
  session: string
  arm: string
  repeat: number
  score: number | null
  /** By criterion. */
  scores: Record<string, { value: number | null; weight: number; reason: string }>
  offTape: { count: number; first?: number }
  userTurns?: { served: number; afterDivergence: number }
  unconsumedWrites?: number
  staleReads?: number
  inputTokens?: number
  outputTokens?: number
  costUsd?: number
  /** What the test's own models cost: not the arm's. */
  judges?: { calls: number; costUsd?: number }
  simulators?: { calls: number; costUsd?: number }
  durationMs: number
  error?: { type: string; message: string }
  /** `done`, `off-tape`, `timeout`, `max-steps`, `error`, … */
  stop: string
  /** Id of its episode. */
  episode: string
}

export interface ArmSource {
  name: string
  /** For people: the model, or which recorded episodes. */
  description: string
}

/** `paired`: both arms tried the same tasks. `two-sample`: each session was of one arm, as in live traffic. */
export type Design = 'paired' | 'two-sample'

/** What is compared, wherever it comes from. `outcomes` may be read twice. */
export interface ComparisonSource {
  title: string
  /** @default paired */
  design?: Design
  /** Facts for the head of the report, in order: run id, environment, harness, seed, dates. */
  facts: { name: string; value: string }[]
  arms: ArmSource[]
  /** Outcomes that each arm should have in all; `undefined` = as many as there are. */
  planned: number | undefined
  outcomes(): AsyncIterable<Outcome>
  /** Tags of a task, for slices. */
  tags?: (task: string) => Record<string, string>
}

/** p50 and p95 over outcomes that have the figure. */
export interface Spread {
  mean: number
  p50: number
  p95: number
  known: number
}

export interface ArmSummary {
  name: string
  description: string
  outcomes: number
  planned: number
  /** Mean over tasks of the mean of the scored repeats, with a clustered 95 % interval. */
  score: { mean: number | null; low: number; high: number; tasks: number }
  passRates: PassRates[]
  /** Only where every score is 0 or 1: passes over scored tries. */
  wilson?: { rate: number; low: number; high: number; trials: number }
  /** Why scores are null, most frequent first. */
  nulls: { count: number; share: number; reasons: { reason: string; count: number }[] }
  errors: number
  stops: Record<string, number>
  offTape: { outcomes: number; share: number; calls: number }
  userTurns: { served: number; afterDivergence: number; share: number }
  unconsumedWrites: number
  staleReads: number
  cost?: Spread & { total: number }
  /** The test's own cost beside: in all, absent where nobody was asked; `usd` absent where a price is not known. */
  judges?: { calls: number; usd?: number }
  simulators?: { calls: number; usd?: number }
  inputTokens?: Spread
  outputTokens?: Spread
  durationMs: Spread
  criteria: Record<string, { weight: number; mean: number | null; nulls: number }>
}

export interface TaskDelta {
  task: string
  session: string
  /** Mean of the scored repeats; null where none was scored. */
  baseline: number | null
  candidate: number | null
  delta: number | null
  /** Off-tape tool calls of each side. */
  offTape: { baseline: number; candidate: number }
  tags?: Record<string, string>
}

export interface Estimate {
  delta: number
  low: number
  high: number
  p: number
  tasks: number
  sessions: number
}

export interface PairComparison {
  design: Design
  baseline: string
  candidate: string
  verdict: Verdict
  /** The verdict and its reason as one sentence. */
  sentence: string
  primary: PrimaryEstimate
  margin: number
  /** Shown, never deciding. */
  shown: {
    nullsAsZero: Estimate
    /** Missing scores set against the candidate, and for it; only where tasks are paired. */
    worst?: Estimate
    best?: Estimate
    /** Only where tasks are paired. */
    onTapeOnly?: Estimate
    bootstrap?: { low: number; high: number; resamples: number; seed: number }
    /** Only where each session is one task, with one repeat, and every score is 0 or 1. */
    mcnemar?: { wins: number; losses: number; p: number }
    /** Only where tasks are paired. */
    signTest?: { wins: number; losses: number; ties: number; p: number }
    /** Only in a two-sample comparison: the share of each arm's episodes that has a score at all, and their difference. */
    coverage?: Estimate & { baseline: number; candidate: number }
    /** Found in 80 % of such runs. */
    detectableDifference?: number
    /** Sessions that would make the margin detectable. */
    sessionsForMargin?: number
    /** Differences of what it costs and takes. */
    cost?: Estimate
    durationMs?: Estimate
  }
  criteria: (Estimate & { name: string; weight: number; pHolm: number })[]
  slices: (Estimate & { tag: string; value: string })[]
  /** Empty in a two-sample comparison: no task has two sides. */
  tasks: TaskDelta[]
}

export interface Comparison {
  format: 1
  title: string
  facts: { name: string; value: string }[]
  baseline: string
  arms: ArmSummary[]
  /** One for each arm but the baseline. */
  pairs: PairComparison[]
  /** What a reader must know: scores missing, arms unequal, notes on the data. */
  notes: string[]
}
