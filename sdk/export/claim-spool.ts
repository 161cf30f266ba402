// A spool in other hands than a recorder's: for who must look through what waits there, and take some of it out. What it holds no product's process takes meanwhile.
import fs from 'node:fs/promises'
import path from 'node:path'
import { HomegroundError } from '../trace/error.ts'
import { hasErrorCode } from '../trace/thrown.ts'
import { encodeHead } from './otlp-encoder.ts'
import { freshSpoolFile, isLeft, isSpoolFile } from './spool-files.ts'
import { type ParsedSegment, parseSegment, pieceOf, segmentOf } from './spool-segment.ts'

/** What waits in a spool, claimed. Give it back with `release`; a claim whose process is killed ends with it. */
export interface ClaimedSpool {
  /** Files that cannot be read as a spool's: left as they are. */
  readonly unreadable: readonly string[]
  /** Each span by itself as an OTLP ExportTraceServiceRequest, also those that were sent already and are still on the disk; `waits` is false for these. */
  spans(): AsyncIterable<SpooledSpan>
  /**
   * Takes spans off the disk, and with them what a kill cut off, of which nobody can say whose it is. All others that wait stay byte for byte.
   * A file is changed at once or not at all. @returns how many of them waited
   */
  remove(isGone: (span: SpooledSpan) => boolean): Promise<number>
  release(): Promise<void>
}

/** A span in a spool's file. */
export interface SpooledSpan {
  request: Buffer
  waits: boolean
}

interface ClaimedFile {
  /** The name it had, and has again afterwards. */
  name: string
  /** The name that says it is ours. */
  path: string
}

/** Claims every file in the folder. @throws HomegroundError not-found, spool-in-use (a process of the product that lives has it) */
export async function claimSpool(folder: string): Promise<ClaimedSpool> {
  const claimed: ClaimedFile[] = []
  const release = async () => {
    // What has no span left is gone.
    for (const file of claimed.splice(0)) await fs.rename(file.path, path.join(folder, file.name)).catch(ignoreMissing)
  }
  try {
    for (const name of await namesIn(folder)) claimed.push({ name, path: await claim(folder, name) })
    await removeUnfinished(folder)
    const unreadable: string[] = []
    for (const { name, path: file } of claimed) if (parseSegment(await fs.readFile(file)) === undefined) unreadable.push(name)
    return {
      unreadable,
      spans: () => spansOf(claimed),
      remove: async (isGone) => {
        let count = 0
        for (const file of claimed) count += await removeFrom(file.path, isGone)
        return count
      },
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await fs.readdir(folder)).filter(isSpoolFile).toSorted()
  } catch (cause) {
    if (!hasErrorCode(cause, 'ENOENT')) throw cause
    throw new HomegroundError('not-found', `there is no spool ${folder}`, {
      hint: 'name the folder that the product was given as `spool` or HOMEGROUND_SPOOL',
      cause,
    })
  }
}

async function claim(folder: string, name: string): Promise<string> {
  const from = path.join(folder, name)
  const to = freshSpoolFile(folder)
  if (await isLeft(from)) {
    try {
      await fs.rename(from, to)
      return to
    } catch (error) {
      ignoreMissing(error)
    }
  }
  throw new HomegroundError('spool-in-use', `${from} belongs to a process that runs`, {
    hint: 'end the products that use the spool, then give the same command again; one on another machine counts as ended ten minutes after its last span',
  })
}

/** What a killed rewrite had written so far. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    if (!name.endsWith(unfinished) || !(await isLeft(path.join(folder, name.slice(0, -unfinished.length))))) continue
    await fs.rm(path.join(folder, name), { force: true })
  }
}
const unfinished = '.next'

async function* spansOf(files: readonly ClaimedFile[]): AsyncGenerator<SpooledSpan> {
  for (const { path: file } of files) {
    const bytes = await fs.readFile(file).catch(ignoreMissing)
    const segment = bytes === undefined ? undefined : parseSegment(bytes)
    if (bytes !== undefined && segment !== undefined) for (const record of segment.records) yield spanOf(bytes, segment, record)
  }
}

async function removeFrom(file: string, isGone: (span: SpooledSpan) => boolean): Promise<number> {
  const bytes = await fs.readFile(file).catch(ignoreMissing)
  const segment = bytes === undefined ? undefined : parseSegment(bytes)
  if (bytes === undefined || segment === undefined) return 0
  const gone = new Set(segment.records.filter((record) => isGone(spanOf(bytes, segment, record))))
  const end = segment.records.at(-1)?.end ?? segment.begin
  if (gone.size === 0 && end === bytes.byteLength) return 0
  const waiting = segment.records.filter((record) => waits(segment, record))
  const kept = waiting.filter((record) => !gone.has(record))
  if (kept.length === 0) await fs.rm(file)
  else await replace(file, segmentOf(bytes, segment, kept))
  return waiting.length - kept.length
}

/** As long as it is not whole on the disk under the other name, the old one counts. */
async function replace(file: string, bytes: Buffer): Promise<void> {
  const next = file + unfinished
  try {
    await fs.writeFile(next, bytes, { mode: 0o600, flush: true })
    await fs.rename(next, file)
  } catch (error) {
    await fs.rm(next, { force: true })
    throw error
  }
}

function spanOf(bytes: Buffer, segment: ParsedSegment, record: { start: number; end: number }): SpooledSpan {
  const piece = pieceOf(bytes, record)
  const { resource, scope } = segment.origin
  return { request: Buffer.concat([encodeHead(resource, scope, piece.byteLength), piece]), waits: waits(segment, record) }
}

function waits({ acknowledged }: ParsedSegment, { start }: { start: number }): boolean {
  return start >= acknowledged
}

function ignoreMissing(error: unknown): undefined {
  if (hasErrorCode(error, 'ENOENT')) return undefined
  throw error
}
