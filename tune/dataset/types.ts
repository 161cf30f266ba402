// What a dataset is made from and what comes of it. Rows are JSON; every episode or task that gives none is counted with its reason.
import type { Episode } from '@homeground/sdk/trace'
import type { Environment, Split, Task } from '../../replay/environment/types.ts'
import type { Row } from '../formats/messages.ts'

/** Why an episode (or, for pairs and groups, a task) gives no row. */
export type DropReason =
  | 'no-assistant-turn'
  | 'truncated'
  | 'unfinished'
  | 'filtered'
  | 'off-tape'
  | 'no-score'
  | 'single-attempt'
  | 'zero-variance'
  | 'tie'
  | 'environment-diverged'
  | 'invalid-arguments'
  | 'below-threshold'
  | 'not-best'
  | 'no-tokens'
  | 'duplicate'

/** An episode that may give rows. */
export interface Candidate {
  episode: Episode
  /** What it is an attempt at; the episode's id where it is one of its own. */
  task: string
  /** What splits keep together; the episode's own, or its task's. */
  session: string | undefined
  /** `undefined` where nothing was split: recorded traffic without an environment. */
  split: Split | undefined
  /** `null`: the score could not be made. `undefined`: nobody asked for one. */
  score: number | null | undefined
  arm?: string
  repeat?: number
  /** The rollout ended with an error or was stopped. */
  stopped?: boolean
}

/** Where candidates come from. May be read more than once; streams each time. */
export interface DatasetSource {
  candidates(): AsyncIterable<Candidate>
  /** The tasks themselves, for formats that train on prompts alone. */
  tasks(): AsyncIterable<Task>
}

/** A source that is a folder on disk: an environment, or a run on one. Close it when done. */
export interface FolderSource extends DatasetSource {
  environment: Environment
  close(): Promise<void>
}

export interface DatasetOptions {
  format: string
  /** @default train */
  split?: 'train' | 'validation'
  /** Episodes that score less are dropped; those without a score too. */
  minScore?: number
  /** Only the so many best of each task. */
  best?: number
  /** Least difference of score between the sides of a pair. @default any difference */
  margin?: number
  /** Pairs a task. @default 1 */
  pairs?: number
  /** Or the providers whose reasoning is kept. @default drop */
  reasoning?: 'drop' | 'keep' | readonly string[]
  /** @default list */
  tools?: 'list' | 'json'
  /** What to do with turns whose arguments are not JSON. @default drop */
  invalidArguments?: 'drop' | 'keep'
  /** Rollouts in which a replay had no answer for a tool call: what the tool said then is the replay's word. @default drop */
  offTape?: 'drop' | 'keep'
  /** Share of equal word sequences from which two rows are the same; 1 = only equal rows. @default 1 */
  duplicates?: number
}

/** A row and where it came from. */
export interface DatasetRow {
  row: Row
  from: RowOrigin
}

export interface RowOrigin {
  task: string
  split: Split | undefined
  session: string | undefined
  episodes: { id: string; arm?: string; repeat?: number; score?: number | null }[]
  /** Tokens of the row: as the provider counted them, else an estimate from its length. */
  tokens: { count: number; exact: boolean; trained: number }
}

export interface DatasetReport {
  format: string
  rows: number
  /** Episodes that were looked at, of the split asked for. */
  considered: number
  /** Episodes of other splits: never in a row. */
  heldOut: number
  dropped: Partial<Record<DropReason, string[]>>
  /** Kept all the same. */
  counted: { invalidArguments: number }
  tokens: { p50: number; p95: number; max: number; exactShare: number; trainedShare: number }
}
