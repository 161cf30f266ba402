// Who uses an engine folder: one empty file a user, named by its process. The name is all there is, so a lease is never half-written.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { makeFolder } from '@homeground/sdk/trace'
import { isAlive, processStart } from './process-identity.ts'

/** Says that this process uses the engine of the folder, until `release()` or until the process is gone. */
export interface Lease {
  release(): void
}

/** Takes a lease for this process. One process may hold several. */
export function takeLease(folder: string): Lease {
  const directory = leaseDirectory(folder)
  makeFolder(directory, { mode: 0o700 })
  const file = path.join(directory, `${process.pid}-${processStart(process.pid) ?? 'unknown'}-${randomBytes(4).toString('hex')}`)
  fs.writeFileSync(file, '')
  return { release: () => fs.rmSync(file, { force: true }) }
}

/** Pids that hold a lease and are alive; forgets the leases of those that are not. */
export function leaseHolders(folder: string): number[] {
  const holders: number[] = []
  for (const name of entries(leaseDirectory(folder))) {
    const [pid, start] = name.split('-')
    if (pid === undefined || start === undefined) continue
    if (isAlive({ pid: Number(pid), start })) holders.push(Number(pid))
    else fs.rmSync(path.join(leaseDirectory(folder), name), { force: true })
  }
  return holders
}

function leaseDirectory(folder: string): string {
  return path.join(folder, 'leases')
}

function entries(directory: string): string[] {
  try {
    return fs.readdirSync(directory)
  } catch {
    return []
  }
}
