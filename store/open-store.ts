// The store: one implementation of `Store`, on a ClickHouse server or on the embedded engine.
import { z } from 'zod'
import { onCluster } from './cluster.ts'
import { type Connection, connect, type Target } from './connection.ts'
import { readCounts } from './counts.ts'
import { startEngine } from './embedded/index.ts'
import { episodesOfTraces, readEpisodes, readFeedback, readSpans } from './episode-reader.ts'
import { insertFeedbackStatement, writeFeedbackRow } from './feedback-columns.ts'
import { erase, findErasable, retentions, setRetention } from './forgetting.ts'
import { migrate } from './migrate.ts'
import { risingClock } from './rising-clock.ts'
import { RowBinaryWriter } from './row-binary.ts'
import { engineFolder, readSettings, storeSettings } from './settings.ts'
import { insertSpansStatement, writeSpanRow } from './span-columns.ts'
import { readSummaries } from './trace-summaries.ts'
import type { Store } from './types.ts'

export interface StoreOptions {
  /** A ClickHouse server. @default HOMEGROUND_CLICKHOUSE_URL, else the embedded engine */
  url?: string
  /** The folder that holds the embedded engine's. @default HOMEGROUND_FOLDER, else .homeground */
  folder?: string
  /** @default HOMEGROUND_CLICKHOUSE_DATABASE, else homeground */
  database?: string
  /** How long an embedded engine that nobody uses stays. @default 10000 */
  lingerMs?: number
  /** @default process.env */
  environment?: Readonly<Record<string, string | undefined>>
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
}

/** Most bytes in one insert: larger lists go in several. */
const insertBytes = 32 * 1024 * 1024

/** As many as insert at the same time under load. */
const idleWritersKept = 2

/**
 * Opens the store and brings its schema forward. Whoever opens it closes it.
 * @throws HomegroundError invalid-settings, engine-missing, engine-locked, engine-failed, store-unavailable, store-newer
 */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const { target, database, cluster } = await openTarget(options)
  const now = risingClock(options.now ?? Date.now)
  const closeTarget = async (stop: boolean) => {
    if (target.kind === 'embedded') await target.engine.close({ stop })
  }
  let connection: Connection
  try {
    const bare = connect(target, { database: 'default' })
    await bare.command(`CREATE DATABASE IF NOT EXISTS ${database}${cluster === undefined ? '' : onCluster({ cluster })}`)
    await bare.close()
    connection = connect(target, { database, ...(cluster === undefined ? {} : { cluster }) })
    await migrate(connection)
  } catch (error) {
    await closeTarget(false)
    throw error
  }

  // Writers whose bytes have arrived: a large buffer is dear to get, and as dear to fill for the first time.
  const idleWriters: RowBinaryWriter[] = []

  /** Some rows in as few inserts as their bytes allow. */
  async function insertAll<Row>(
    statement: string,
    rows: readonly Row[],
    write: (to: RowBinaryWriter, row: Row, received: bigint) => void,
  ): Promise<void> {
    const received = now()
    const writer = idleWriters.pop() ?? new RowBinaryWriter()
    for (const [index, row] of rows.entries()) {
      write(writer, row, received)
      if (writer.length < insertBytes && index < rows.length - 1) continue
      await connection.insert(statement, writer.written())
      writer.clear()
    }
    // One whose insert has failed may still be held by a dying connection.
    if (idleWriters.length < idleWritersKept) idleWriters.push(writer)
  }

  return {
    migrate: () => migrate(connection),
    insertSpans: (rows) => insertAll(insertSpansStatement, rows, writeSpanRow),
    insertFeedback: (rows) => insertAll(insertFeedbackStatement, rows, writeFeedbackRow),
    episodes: (query) => readEpisodes(connection, query),
    episode: async (project, idOrTrace) => {
      // A trace id, nearly always: read at once, without asking first whether there is such a trace.
      const named = await episodesOfTraces(connection, project, [idOrTrace])
      if (named.length > 0) return named
      const trace = await traceOfEpisode(connection, project, idOrTrace)
      const episodes = trace === undefined ? [] : await episodesOfTraces(connection, project, [trace])
      const exact = episodes.filter(({ id }) => id === idOrTrace)
      return exact.length > 0 ? exact : episodes
    },
    tracesBeginning: (prefix, project) => tracesBeginning(connection, prefix, project),
    traces: (query) => readSummaries(connection, query),
    spans: (project, traceIds) => readSpans(connection, project, traceIds),
    feedback: (project, traceIds) => readFeedback(connection, project, traceIds),
    projects: async () => {
      const rows = await connection.rows(
        'SELECT DISTINCT project FROM (SELECT project FROM spans UNION ALL SELECT project FROM feedback) ORDER BY project',
      )
      return rows.map((row) => z.object({ project: z.string() }).parse(row))
    },
    counts: (project) => readCounts(connection, project),
    erasable: (what) => findErasable(connection, what),
    erase: (what) => erase(connection, what),
    setRetention: (project, days) => setRetention(connection, project, days),
    retentions: () => retentions(connection),
    registerEnvironment: ({ builtAt, traces, ...named }) =>
      connection.insert(
        "INSERT INTO environments (project, hash, name, folder, built_at, trace_ids) SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow",
        Buffer.from(JSON.stringify({ ...named, built_at: builtAt, trace_ids: traces })),
      ),
    setPrices: async (prices) => {
      const columns = {
        model: prices.map(({ model }) => model),
        input: prices.map(({ input }) => input),
        output: prices.map(({ output }) => output),
        cacheRead: prices.map(({ cacheRead }) => cacheRead),
        cacheWrite: prices.map(({ cacheWrite }) => cacheWrite),
        asOf: prices.map(({ asOf }) => asOf),
      }
      await connection.command(
        `INSERT INTO prices (model, input, output, cache_read, cache_write, as_of)
         SELECT p.1, p.2, p.3, p.4, p.5, p.6 FROM (SELECT arrayJoin(arrayZip({model:Array(String)}, {input:Array(Float64)}, {output:Array(Float64)},
           {cacheRead:Array(Float64)}, {cacheWrite:Array(Float64)}, {asOf:Array(String)})) AS p)`,
        columns,
      )
    },
    ping: () => connection.ping(),
    close: async ({ stop = false } = {}) => {
      await connection.close()
      await closeTarget(stop)
    },
  }
}

async function openTarget(options: StoreOptions): Promise<{ target: Target; database: string; cluster?: string }> {
  const settings = readSettings(storeSettings, options.environment ?? process.env)
  const url = options.url ?? (options.folder === undefined ? settings.HOMEGROUND_CLICKHOUSE_URL : undefined)
  const database = options.database ?? settings.HOMEGROUND_CLICKHOUSE_DATABASE
  if (url !== undefined) {
    const target = {
      kind: 'server',
      url,
      user: settings.HOMEGROUND_CLICKHOUSE_USER,
      password: settings.HOMEGROUND_CLICKHOUSE_PASSWORD,
    } as const
    const cluster = settings.HOMEGROUND_CLICKHOUSE_CLUSTER
    return { target, database, ...(cluster === undefined ? {} : { cluster }) }
  }
  const folder = engineFolder(options.folder ?? settings.HOMEGROUND_FOLDER)
  const engine = await startEngine({ folder, ...(options.lingerMs === undefined ? {} : { lingerMs: options.lingerMs }) })
  return { target: { kind: 'embedded', engine }, database }
}

/** An episode of a trace with several is named by a hash (docs/formats.md), which only a look at all agents tells. */
async function traceOfEpisode(connection: Connection, project: string, id: string): Promise<string | undefined> {
  if (id.length !== 32) return undefined
  const found = await connection.rows(
    `SELECT trace_id FROM spans WHERE project = {project:String}
     AND (kind = 'agent' AND startsWith(lower(hex(SHA256(concat(trace_id, span_id)))), {id:String}) OR startsWith(lower(hex(SHA256(trace_id))), {id:String})) LIMIT 1`,
    { project, id },
  )
  return found[0] === undefined ? undefined : z.object({ trace_id: z.string() }).parse(found[0]).trace_id
}

async function tracesBeginning(connection: Connection, prefix: string, project?: string): Promise<{ project: string; trace: string }[]> {
  const found = await connection.rows(
    `SELECT DISTINCT project, trace_id AS trace FROM span_heads WHERE startsWith(trace_id, {prefix:String})
     ${project === undefined ? '' : 'AND project = {project:String}'} ORDER BY trace, project LIMIT 10`,
    { prefix, ...(project === undefined ? {} : { project }) },
  )
  return found.map((row) => z.object({ project: z.string(), trace: z.string() }).parse(row))
}
