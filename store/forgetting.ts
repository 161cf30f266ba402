// Forgetting: erasing what belongs to a user, a session or a trace, and keeping a project's rows for so many days only.
import { HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'
import { alterTable, holderOf } from './cluster.ts'
import type { Connection } from './connection.ts'
import { traceIdChunks } from './trace-id-chunks.ts'
import type { Erasure, ErasureResult, RegisteredEnvironment } from './types.ts'

/** What an erasure would take away. Older versions of a row count too: they are still on disk. */
export async function findErasable(connection: Connection, what: Erasure): Promise<ErasureResult> {
  const traces = await tracesOf(connection, what)
  const environments = new Map<string, RegisteredEnvironment>()
  const result: ErasureResult = { traces, spans: 0, feedback: 0, environments: [] }
  for (const ids of traceIdChunks(traces)) {
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
  for (const ids of traceIdChunks(found.traces)) {
    // Spans last: they alone say whose a trace is, to an erasure that begins anew after this one was broken off.
    for (const table of ['span_heads', 'feedback', 'trace_days', 'spans']) {
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
  for (const [table, seconds, always] of [
    ['spans', 'intDiv(toUnixTimestamp64Milli(start_time), 1000)', [recompression]],
    ['span_heads', 'intDiv(start_ms, 1000)', []],
    ['feedback', 'intDiv(toUnixTimestamp64Milli(at), 1000)', []],
    ['trace_days', 'toInt64(day) * 86400', []],
  ] as const) {
    const rows = rules.map((rule) => `${endOf(seconds, rule.days)} DELETE WHERE project = ${literal(rule.project)}`)
    const clauses = [...always, ...rows]
    if (clauses.length > 0) await connection.command(`${alterTable(table, connection.place)} MODIFY TTL ${clauses.join(', ')}`)
    else if (await hasTtl(connection, table)) await connection.command(`${alterTable(table, connection.place)} REMOVE TTL`)
  }
}

/** A DateTime ends in 2106, and one that goes on beyond begins anew in 1970: a row that is to stay for 100 years would go at once. ClickHouse takes 0 for never. */
function endOf(seconds: string, days: number): string {
  return `toDateTime(greatest(1, least(${seconds} + ${days * 86_400}, 4294967295)))`
}

/** Of migration 3: a new TTL takes the place of the whole old one. */
const recompression = 'toDateTime(received_at) + INTERVAL 90 SECOND RECOMPRESS CODEC(ZSTD(3, 24))'

/** Projects whose rows go away, with the number of days. */
export async function retentions(connection: Connection): Promise<{ project: string; days: number }[]> {
  const rows = await connection.rows('SELECT project, days FROM retention FINAL WHERE days > 0 ORDER BY project')
  return rows.map((row) => z.object({ project: z.string(), days: z.number() }).parse(row))
}

async function tracesOf(connection: Connection, what: Erasure): Promise<string[]> {
  const subject = subjectOf(what)
  if (typeof subject !== 'string') {
    const sql = `SELECT DISTINCT trace_id FROM spans WHERE project = {project:String} AND ${subject.column} = {value:String}`
    return tracesIn(await connection.rows(sql, { project: what.project, value: subject.value }))
  }
  const where = 'WHERE project = {project:String} AND trace_id IN {traces:Array(String)}'
  const found: string[] = []
  for (const traces of traceIdChunks([...new Set((what.traces ?? [what.trace ?? '']).map((trace) => trace.toLowerCase()))])) {
    const sql = `SELECT DISTINCT trace_id FROM spans ${where} UNION DISTINCT SELECT DISTINCT trace_id FROM feedback ${where}`
    for (const trace of tracesIn(await connection.rows(sql, { project: what.project, traces }))) found.push(trace)
  }
  return found
}

function tracesIn(rows: readonly unknown[]): string[] {
  return rows.map((row) => z.object({ trace_id: z.string() }).parse(row).trace_id)
}

function subjectOf({ user, session, trace, traces }: Erasure): { column: 'user' | 'session'; value: string } | 'traces' {
  const given = Object.entries({ user, session, trace, traces }).filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 1) {
    if (user) return { column: 'user', value: user }
    return session ? { column: 'session', value: session } : 'traces'
  }
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
