// Writes report.json and report.html beside a run. Both appear whole or not at all.
import fs from 'node:fs'
import path from 'node:path'
import { type Episode, makeFolder } from '@homeground/sdk/trace'
import type { Run } from '../../run/types.ts'
import { runSource } from '../compare-run.ts'
import type { Comparison, ComparisonSource } from '../types.ts'
import { chooseCases } from './cases.ts'
import { renderReport } from './render-report.ts'

export interface ReportFiles {
  json: string
  html: string
}

/** Into the run's folder. */
export function writeReport(run: Run, comparison: Comparison): Promise<ReportFiles> {
  return writeReportFiles(run.folder, comparison, runSource(run), run.episodes())
}

/** Into `folder`, which is made where it is missing. Reads outcomes and episodes once more, for the episodes that are shown. */
export async function writeReportFiles(
  folder: string,
  comparison: Comparison,
  source: Pick<ComparisonSource, 'outcomes'>,
  episodes: AsyncIterable<Episode>,
): Promise<ReportFiles> {
  const cases = await chooseCases(comparison, source, episodes)
  makeFolder(folder)
  const files = { json: path.join(folder, 'report.json'), html: path.join(folder, 'report.html') }
  writeTogether([
    [files.html, renderReport(comparison, cases)],
    [files.json, `${JSON.stringify(comparison, finiteOrNull, 1)}\n`],
  ])
  return files
}

/** JSON has no infinity: an interval without an end is null there. */
function finiteOrNull(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

/** Beside their places first, so that a disk that is full leaves the report of before, and nothing else. */
function writeTogether(texts: readonly (readonly [file: string, text: string])[]): void {
  const partial = (file: string) => `${file}.${process.pid}.partial`
  try {
    for (const [file, text] of texts) writeNamed(partial(file), text)
    for (const [file] of texts) fs.renameSync(partial(file), file)
  } catch (error) {
    for (const [file] of texts) fs.rmSync(partial(file), { force: true })
    throw error
  }
}

/** A failed write does not say of itself which file it was. */
function writeNamed(file: string, text: string): void {
  try {
    fs.writeFileSync(file, text)
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: file }) : error
  }
}
