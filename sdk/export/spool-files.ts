// The names of a spool's files, which say whose they are: a file belongs to the process that its name tells until that has ended. Renaming claims it.
import fs from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { nodeCrypto } from '../run/late-modules.ts'
import { isProcessAlive } from '../trace/is-process-alive.ts'

/** Files of this process: a later one may have the same pid (in a container always). */
const own = new Set<string>()
let numbered = 0
/** Two containers that share the folder have the same pids. */
let host: string | undefined
/** Another machine's process is taken for ended when it has not touched its file for so long. */
const abandonedMs = 10 * 60 * 1000
const namePattern = /^spans-([0-9a-f]{8})-(\d+)-[0-9a-z]+-\d+\.spool$/

/** A path that no file has, of this process. */
export function freshSpoolFile(folder: string): string {
  numbered += 1
  const made = path.join(folder, `spans-${hostWord()}-${process.pid}-${Date.now().toString(36)}-${numbered}.spool`)
  own.add(made)
  return made
}

/** The file is nobody's from here on: the next recorder in this process may take it, as one in another would. */
export function releaseSpoolFile(file: string): void {
  own.delete(file)
}

export function isSpoolFile(name: string): boolean {
  return namePattern.test(name)
}

/** True for a spool file whose process has ended. */
export async function isLeft(file: string): Promise<boolean> {
  const [, madeBy, pid] = namePattern.exec(path.basename(file)) ?? []
  if (madeBy === undefined || own.has(file)) return false
  if (madeBy === hostWord()) return Number(pid) === process.pid || !isProcessAlive(Number(pid))
  const { mtimeMs } = await fs.stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
  return Date.now() - mtimeMs > abandonedMs
}

function hostWord(): string {
  host ??= nodeCrypto().createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  return host
}
