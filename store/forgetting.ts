// Forgetting: erasing what belongs to a user, a session or a trace, and keeping a project's rows for so many days only.
import { HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'
import { alterTable, holderOf } from './cluster.ts'
import type { Connection } from './connection.ts'
import type { Erasure, ErasureResult, RegisteredEnvironment } from './types.ts'

/** Trace ids in one statement. */
const idsAtOnce = 5_000

/** What an erasure would take away. Older versions of a row count too: they are still on disk. */
export async function findErasable(connection: Connection, what: Erasure): Promise<ErasureResult> {
  const [column, value] = subjectOf(what)
  const found = await connection.rows(
    `SELECT DISTINCT trace_id FROM spans WHERE project = {project:String} AND ${column} = {value:String}
     ${column === 'trace_id' ? 'UNION DISTINCT SELECT DISTINCT trace_id FROM feedback WHERE project = {project:String} AND trace_id = {value:String}' : ''}`,
    { project: what.project, value },
  )
  const traces = found.map((row) => z.object({ trace_id: z.string() }).parse(row).trace_id)
  const environments = new Map<string, RegisteredEnvironment>()
  const result: ErasureResult = { traces, spans: 0, feedback: 0, environments: [] }
  for (const ids of chunks(traces)) {
    const parameters = { project: what.project, traces: ids }
    const where = 'project = {project:String} AND trace_id IN {traces:Array(String)}'
    result.spans += await countOf(connection, `SELECT count() AS n FROM spans FINAL WHERE ${where}`, parameters)
    result.feedback += await countOf(connection, `SELECT count() AS n FROM feedback FINAL WHERE ${where}`, parameters)
    const holding = await connection.rows(
      'SELECT hash, name, folder FROM environments FINAL WHERE project = {project:String} AND hasAny(trace_ids, {traces:Array(String)})',
      parameters,
    )
    for (const row of holding) {
      const environment = z.object({ hash: z.string(), name: z.string(), folder: z.string() }).parse(row)
      environments.set(`${environment.hash} ${environment.folder}`, environment)
    }
  }
  result.environments = [...environments.values()]
  return result
}

/** Takes it away from every table; resolves when it is off the disk, old versions too. */
export async function erase(connection: Connection, what: Erasure): Promise<ErasureResult> {
  const found = await findErasable(connection, what)
  for (const ids of chunks(found.traces)) {
    for (const table of ['spans', 'span_heads', 'feedback', 'trace_days']) {
      await connection.command(
        `${alterTable(table, connection.place)} DELETE WHERE project = {project:String} AND trace_id IN {traces:Array(String)} SETTINGS mutations_sync = 2`,
        {
          project: what.project,
          traces: ids,
        },
      )
    }
  }
  return found
}

/** Rows of the project older than so many days go away by themselves; `undefined`: they stay. */
export async function setRetention(connection: Connection, project: string, days: number | undefined): Promise<void> {
  await connection.command('INSERT INTO retention (project, days) SELECT {project:String}, {days:UInt32}', { project, days: days ?? 0 })
  const rules = await retentions(connection)
  for (const [table, time, always] of [
    ['spans', 'toDateTime(start_time)', [recompression]],
    ['span_heads', 'toDateTime(intDiv(start_ms, 1000))', []],
    ['feedback', 'toDateTime(at)', []],
    ['trace_days', 'day', []],
  ] as const) {
    const rows = rules.map((rule) => `${time} + toIntervalDay(${rule.days}) DELETE WHERE project = ${literal(rule.project)}`)
    const clauses = [...always, ...rows]
    if (clauses.length > 0) await connection.command(`${alterTable(table, connection.place)} MODIFY TTL ${clauses.join(', ')}`)
    else if (await hasTtl(connection, table)) await connection.command(`${alterTable(table, connection.place)} REMOVE TTL`)
  }
}

/** Of migration 3: a new TTL takes the place of the whole old one. */
const recompression = 'toDateTime(received_at) + INTERVAL 90 SECOND RECOMPRESS CODEC(ZSTD(3, 24))'

/** Projects whose rows go away, with the number of days. */
export async function retentions(connection: Connection): Promise<{ project: string; days: number }[]> {
  const rows = await connection.rows('SELECT project, days FROM retention FINAL WHERE days > 0 ORDER BY project')
  return rows.map((row) => z.object({ project: z.string(), days: z.number() }).parse(row))
}

function subjectOf(what: Erasure): [column: string, value: string] {
  const given = [
    ['user', what.user],
    ['session', what.session],
    ['trace_id', what.trace?.toLowerCase()],
  ].flatMap(([column, value]): [string, string][] => (column === undefined || value === undefined || value === '' ? [] : [[column, value]]))
  const [only, ...others] = given
  if (only !== undefined && others.length === 0) return only
  throw new HomegroundError('invalid-argument', 'an erasure is of one user, one session or one trace', {
    hint: 'give exactly one of --user, --session and --trace',
  })
}

async function countOf(connection: Connection, sql: string, parameters: Record<string, unknown>): Promise<number> {
  return z.object({ n: z.coerce.number() }).parse((await connection.rows(sql, parameters))[0]).n
}

async function hasTtl(connection: Connection, table: string): Promise<boolean> {
  const rows = await connection.rows(
    'SELECT create_table_query AS sql FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table: holderOf(table, connection.place) },
  )
  return / TTL /.test(z.object({ sql: z.string() }).parse(rows[0]).sql)
}

/** A string literal: a TTL takes no bound parameters. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function* chunks(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += idsAtOnce) yield ids.slice(at, at + idsAtOnce)
}
