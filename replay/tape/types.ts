// What the tape is asked and what it answers. One tape a rollout: it remembers what it has served.
import type { Effect, Json } from '@homeground/sdk/trace'
import type { TapeEntry } from '../environment/types.ts'

export interface TapeCall {
  name: string
  /** The parsed value, as the model sent it. For an io read: its key. */
  arguments: Json
  callId?: string
  /** The sub-agent that calls; absent = the main agent. */
  lane?: string
  /** The product has a function of this name: a call that no recording knows is then off the tape, not the model's mistake. */
  implemented?: boolean
  /** What the product declares; the environment's setting and the entry's own go first. */
  effect?: Effect
}

export type MissPolicy = 'error' | 'fail' | 'nearest' | 'simulate'

export type TapeAnswer =
  /** Serve the entry's result, or throw its error. Its entry is used up. */
  | { kind: 'hit'; entry: TapeEntry }
  /** Run the product's own function. */
  | { kind: 'live' }
  /** Run this function, `file#export`, instead. */
  | { kind: 'mock'; mock: string }
  /** Ask the simulating model: the tool's mode says so. Not off the tape. */
  | { kind: 'simulate' }
  /** Off the tape. `nearest` serves `entry`, which is not used up; `error` is a tool error for the model; `fail` ends the rollout. */
  | { kind: 'miss'; policy: MissPolicy; entry?: TapeEntry; message: string }
  /** The model's own mistake: a tool error for it to mend. The tape is untouched, and it is not off the tape. */
  | { kind: 'model-error'; type: 'invalid-arguments' | 'unknown-tool'; message: string }

/** What a rollout did to its tape. */
export interface TapeReport {
  /** `first`: which of the candidate's tool calls, from 1. */
  offTape: { count: number; first?: number }
  /** Seqs of entries that were not used, ascending; those of tools in another mode than `tape` are no one's to use. */
  unconsumed: number[]
  /** Those of effect `write` (or unknown) among them. */
  unconsumedWrites: number[]
  /** Hits recorded before a write but served after the candidate had made it. */
  staleReads: number
  /** Names of the tools that ran live, in order. */
  live: string[]
  /** How many hits were served, and how many of them out of the recorded order. */
  hits: number
  outOfOrder: number
}

/** Where a candidate's tool calls first left the recorded ones. */
export interface Divergence {
  /** Which of the candidate's tool calls, from 1. */
  step: number
  kind: 'off-tape' | 'skipped' | 'reordered'
}
