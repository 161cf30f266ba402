// What an importer is: it reads one file of one format and gives an episode at a time, as rows.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'

export interface Importer {
  /** The name on the command line: `tau-bench`. */
  readonly format: string
  /** One line for `--help`. */
  readonly summary: string
  /** One episode at a time, in file order. Ids are made from the content, so that a second import adds nothing. @throws HomegroundError invalid-input, not-found: `file:line` */
  read(file: string, settings: ImportSettings): AsyncIterable<ImportedTrace>
}

export interface ImportSettings {
  /** Where the rows go; absent = the project that the file names, else `default`. */
  project: string | undefined
  /** Definitions and effects of the tools, where the format carries none. */
  tools: readonly ImportedTool[]
  /** The model's name, where the format carries none. */
  model: string | undefined
}

/** Rows and feedback of one trace. */
export interface ImportedTrace {
  rows: SpanRow[]
  feedback: FeedbackRow[]
  /** Episodes that begin with these rows. @default 1 */
  episodes?: number
}

/** A tool as a file of tools tells it: a definition, and what it does to the world. */
export interface ImportedTool {
  name: string
  definition: { type: 'function'; function: import('@homeground/sdk/trace').Json }
  effect: string
}
