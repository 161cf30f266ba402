// Brings files into the store. Every file is read to its end before the first row is inserted, so that a broken line leaves the store as it was.
import { type FeedbackRow, HomegroundError, type SpanRow } from '@homeground/sdk/trace'
import type { Store } from '../types.ts'
import { importers } from './importers.ts'
import type { Importer, ImportSettings } from './types.ts'

export interface ImportOptions extends Partial<ImportSettings> {
  /** Formats beside the store's own. @default none */
  importers?: readonly Importer[]
  /** Called now and then, for a progress line. */
  onProgress?: (progress: { phase: 'checking' | 'storing'; file: string; episodes: number }) => void
}

export interface ImportSummary {
  format: string
  files: number
  projects: string[]
  episodes: number
  modelCalls: number
  toolCalls: number
  feedback: number
  /** Numeric feedback `reward` or `score` by task, in file order: what pass^k is computed from. */
  rewards: Map<string, number[]>
}

/** What an import needs of the store. */
export type ImportTarget = Pick<Store, 'insertSpans' | 'insertFeedback'>

const batchRows = 2_000
const batchBytes = 8 * 1024 * 1024

/** @throws HomegroundError unknown-format; not-found and invalid-input with the place; store-unavailable */
export async function importFiles(
  store: ImportTarget,
  files: readonly string[],
  format: string,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const summary = await checkFiles(files, format, options)
  await storeFiles(store, files, format, options)
  return summary
}

/** @throws HomegroundError unknown-format, with the formats that there are */
export function importerOf(format: string, more: readonly Importer[] = []): Importer {
  const known = [...importers, ...more]
  const importer = known.find((one) => one.format === format)
  if (importer !== undefined) return importer
  throw new HomegroundError('unknown-format', `there is no import format "${format}"`, {
    hint: `use one of ${known.map((one) => one.format).join(', ')}`,
  })
}

/** The first half of an import: reads every file to its end and stores nothing. @throws as `importFiles` */
export async function checkFiles(files: readonly string[], format: string, options: ImportOptions = {}): Promise<ImportSummary> {
  const importer = importerOf(format, options.importers)
  const settings = settingsOf(options)
  const summary: ImportSummary = {
    format: importer.format,
    files: 0,
    projects: [],
    episodes: 0,
    modelCalls: 0,
    toolCalls: 0,
    feedback: 0,
    rewards: new Map(),
  }
  const projects = new Set<string>()
  for (const file of files) {
    summary.files += 1
    const before = summary.episodes
    for await (const { rows, feedback, episodes = 1 } of importer.read(file, settings)) {
      if (rows.length > 0) summary.episodes += episodes
      for (const row of rows) {
        projects.add(row.project)
        if (row.kind === 'model') summary.modelCalls += 1
        if (row.kind === 'tool') summary.toolCalls += 1
      }
      summary.feedback += feedback.length
      noteReward(summary.rewards, rows, feedback)
      options.onProgress?.({ phase: 'checking', file, episodes: summary.episodes })
    }
    if (summary.episodes === before)
      throw new HomegroundError('invalid-input', `${file} holds no episode`, { hint: 'check the file, and that --format is what it is' })
  }
  summary.projects = [...projects].sort()
  return summary
}

function noteReward(rewards: Map<string, number[]>, rows: readonly SpanRow[], feedback: readonly FeedbackRow[]): void {
  const task = rows[0]?.task ?? ''
  const said = feedback.find(({ name }) => name === 'reward' || name === 'score')?.value
  if (task === '' || typeof said !== 'number') return
  const others = rewards.get(task)
  if (others === undefined) rewards.set(task, [said])
  else others.push(said)
}

/** The second half: stores files that have been checked. @throws HomegroundError store-unavailable */
export async function storeFiles(
  store: ImportTarget,
  files: readonly string[],
  format: string,
  options: ImportOptions = {},
): Promise<void> {
  const importer = importerOf(format, options.importers)
  const settings = settingsOf(options)
  let rows: SpanRow[] = []
  let feedback: FeedbackRow[] = []
  let bytes = 0
  let episodes = 0
  const flush = async () => {
    if (rows.length > 0) await store.insertSpans(rows)
    if (feedback.length > 0) await store.insertFeedback(feedback)
    rows = []
    feedback = []
    bytes = 0
  }
  for (const file of files) {
    for await (const trace of importer.read(file, settings)) {
      for (const row of trace.rows) {
        rows.push(row)
        bytes += row.requestBody.length + row.responseBody.length + row.result.length
      }
      for (const row of trace.feedback) feedback.push(row)
      episodes += trace.episodes ?? 1
      if (rows.length >= batchRows || bytes >= batchBytes) await flush()
      options.onProgress?.({ phase: 'storing', file, episodes })
    }
  }
  await flush()
}

function settingsOf(options: ImportOptions): ImportSettings {
  return { project: options.project, tools: options.tools ?? [], model: options.model }
}
