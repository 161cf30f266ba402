// Brings the schema forward: the numbered files of migrations/, each once. Every statement may run twice, since two commands may start at the same time.
import fs from 'node:fs'
import { HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'
import { clusterStatements } from './cluster.ts'
import type { Connection } from './connection.ts'

const migrations = new URL('./migrations/', import.meta.url)

/** @throws HomegroundError store-newer where the store has steps that this version does not know */
export async function migrate(connection: Connection): Promise<void> {
  const known = readMigrations()
  const run = async (statement: string) => {
    const { place } = connection
    for (const each of place === undefined ? [statement] : clusterStatements(statement, place)) {
      await connection.command(each).catch((error: unknown) => {
        if (!isGoneAlready(each, error)) throw error
      })
    }
  }
  await run(appliedTable)
  const applied = new Set(
    (await connection.rows('SELECT DISTINCT version FROM schema_migrations')).map(
      (row) => z.object({ version: z.number() }).parse(row).version,
    ),
  )
  const newest = Math.max(0, ...applied)
  const last = known.at(-1)?.version ?? 0
  if (newest > last) {
    throw new HomegroundError('store-newer', `the store has schema version ${newest}; this Homeground knows versions up to ${last}`, {
      hint: 'install the newer Homeground that wrote it, or give another folder or database',
    })
  }
  for (const { version, name, statements } of known) {
    if (applied.has(version)) continue
    for (const statement of statements) await run(statement)
    await connection.command('INSERT INTO schema_migrations (version, name) SELECT {version:UInt32}, {name:String}', { version, name })
  }
}

/** A statement that takes something away cannot be run twice in ClickHouse: by a process that was killed before it noted the step, or by two that start at once. */
function isGoneAlready(statement: string, error: unknown): boolean {
  return / REMOVE \w+$/.test(statement) && error instanceof Error && /doesn't have \w+, cannot remove it/.test(error.message)
}

const appliedTable =
  'CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY version'

/** Every statement that brings a new database to the newest schema, in order. */
export function schemaStatements(): string[] {
  return [appliedTable, ...readMigrations().flatMap(({ statements }) => statements)]
}

function readMigrations(): { version: number; name: string; statements: string[] }[] {
  return fs
    .readdirSync(migrations)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name: name.slice(5, -4),
      statements: splitStatements(fs.readFileSync(new URL(name, migrations), 'utf8')),
    }))
}

/** Statements end with a `;` at the end of a line; comments are lines of their own. */
function splitStatements(sql: string): string[] {
  const code = sql
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
  return code
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
