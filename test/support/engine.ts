// A real ClickHouse for a test file: an engine of its own in a temp folder, ended after the file. Skipped, with the reason, where the engine is not installed.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { engineMissing, openStore, readEngineAddress, type Store, startEngine } from '../../store/index.ts'
import { missing } from './require.ts'

/** True where tests that need the engine are to be skipped: `describe.skipIf(engineIsMissing)`. */
export const engineIsMissing = missing('engine', engineMissing())

export interface TestEngine {
  /** The folder to hand to commands as HOMEGROUND_FOLDER. */
  readonly folder: string
  /** A store on a database of its own; closed after the file. */
  openStore(database?: string): Promise<Store>
  /** A statement past the store, as an operator would send it; the answer's text. */
  sql(statement: string, database: string): Promise<string>
}

/** Call it at the top of a test file or in a describe block. */
export function useEngine(): TestEngine {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-engine-'))
  const stores: Store[] = []
  let end: (() => Promise<void>) | undefined
  let databases = 0
  beforeAll(async () => {
    if (engineIsMissing) return
    const engine = await startEngine({ folder: path.join(folder, 'engine') })
    end = () => engine.close({ stop: true })
  })
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await end?.()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    openStore: async (database = `test${++databases}`) => {
      const store = await openStore({ folder, database, environment: {} })
      stores.push(store)
      return store
    },
    sql: async (statement, database) => {
      const address = readEngineAddress(path.join(folder, 'engine'))
      if (address === undefined) throw new Error('the engine does not run')
      const headers = { 'X-ClickHouse-User': address.user, 'X-ClickHouse-Key': address.password }
      const response = await fetch(`${address.url}/?database=${database}`, { method: 'POST', headers, body: statement })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.trim()
    },
  }
}
