// A dataset on disk: FILE with the rows, FILE's name + .sources.jsonl with where each row came from, and .report.json. All of them whole, or none.
import { existsSync, statSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { HomegroundError, JsonLinesWriter, makeFolder } from '@homeground/sdk/trace'
import { makeDataset } from './make-dataset.ts'
import type { DatasetOptions, DatasetReport, DatasetSource } from './types.ts'

export interface WrittenDataset extends DatasetReport {
  files: { rows: string; sources: string; report: string }
}

/** Without a single row nothing is written, and the report says why. @throws as `makeDataset` */
export async function writeDataset(
  source: DatasetSource,
  file: string,
  options: DatasetOptions,
  about: { from: readonly string[] },
): Promise<WrittenDataset> {
  refusePlace(file)
  const base = file.replace(/\.jsonl(?:\.gz)?$/, '')
  const files = { rows: file, sources: `${base}.sources.jsonl`, report: `${base}.report.json` }
  const rows = await open(files.rows)
  const sources = await open(files.sources)
  try {
    let line = 0
    const report = await makeDataset(source, options, async ({ row, from }) => {
      line += 1
      await rows.write(row)
      await sources.write({ line, ...from })
    })
    const written = { ...report, files }
    if (report.rows === 0) {
      await rows.abort()
      await sources.abort()
      return written
    }
    await fs.writeFile(`${files.report}.${process.pid}.tmp`, `${JSON.stringify({ ...written, from: about.from, options }, null, 2)}\n`)
    await rows.close()
    await sources.close()
    await fs.rename(`${files.report}.${process.pid}.tmp`, files.report)
    return written
  } catch (error) {
    await rows.abort()
    await sources.abort()
    await fs.rm(`${files.report}.${process.pid}.tmp`, { force: true })
    throw error
  }
}

/** Rows written over an environment's tasks or a run's rollouts would destroy them. @throws HomegroundError invalid-argument */
function refusePlace(file: string): void {
  const folder = path.dirname(path.resolve(file))
  const owner = ['env.json', 'run.json'].find((name) => existsSync(path.join(folder, name)))
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  if (owner === undefined && !isFolder) return
  const why = isFolder ? 'is a folder' : `lies in the folder of ${owner === 'env.json' ? 'an environment' : 'a run'}`
  throw new HomegroundError('invalid-argument', `${file} ${why}`, { hint: 'give a file somewhere else with --out' })
}

async function open(file: string): Promise<JsonLinesWriter> {
  try {
    makeFolder(path.dirname(path.resolve(file)))
  } catch (cause) {
    throw new HomegroundError('invalid-argument', `${path.dirname(file)} cannot be made`, { hint: 'give another file with --out', cause })
  }
  return await JsonLinesWriter.open(file)
}
