// Where the engine of a folder listens: engine.json, written by the engine once it answers and removed before it ends.
import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { leaseHolders } from './leases.ts'
import { isAlive } from './process-identity.ts'

/** As it stands in the file. */
export const addressSchema = z.object({
  format: z.literal(1),
  url: z.string(),
  user: z.string(),
  password: z.string(),
  pid: z.number().int(),
  start: z.string(),
})

/** How to reach a running engine. The file is readable by its owner alone: it holds the password. */
export type EngineAddress = z.infer<typeof addressSchema>

/** The address of the live engine of the folder; undefined where none runs, or none is ready yet. */
export function readAddress(folder: string): EngineAddress | undefined {
  try {
    const address = addressSchema.parse(JSON.parse(fs.readFileSync(addressFile(folder), 'utf8')))
    return isAlive(address) ? address : undefined
  } catch {
    return undefined
  }
}

/** Publishes the address, whole or not at all. */
export function writeAddress(folder: string, address: EngineAddress): void {
  const next = `${addressFile(folder)}.next`
  fs.writeFileSync(next, JSON.stringify(address), { mode: 0o600 })
  fs.renameSync(next, addressFile(folder))
}

/**
 * Ends the engine unless somebody holds a lease; true when it was told to end.
 * The address goes first and the leases are looked at after it: whoever takes a lease and then finds an address has an engine that stays.
 */
export function retire(folder: string, address: EngineAddress): boolean {
  fs.rmSync(addressFile(folder), { force: true })
  if (leaseHolders(folder).length > 0) {
    writeAddress(folder, address)
    return false
  }
  try {
    process.kill(address.pid, 'SIGTERM')
  } catch {
    // gone by itself
  }
  return true
}

function addressFile(folder: string): string {
  return path.join(folder, 'engine.json')
}
