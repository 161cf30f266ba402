// Reads whole episodes back: finds traces in order of start, fetches their rows a page at a time, and lets the leaf assemble them.
import { assembleEpisodes, type Episode, type FeedbackRow, type SpanRow } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { matchesQuery, traceConditions } from './episode-query.ts'
import { readFeedbackRow, selectFeedbackColumns } from './feedback-columns.ts'
import { readSpanRow, selectSpanColumns } from './span-columns.ts'
import { traceIdChunks } from './trace-id-chunks.ts'
import type { EpisodeQuery } from './types.ts'

/** Trace ids fetched at a time, and traces whose bodies are in memory at a time. */
const idsAPage = 2_000
const tracesAPage = 32

/** As `Store.episodes`. */
export async function* readEpisodes(connection: Connection, query: EpisodeQuery): AsyncGenerator<Episode> {
  let left = query.limit ?? Number.POSITIVE_INFINITY
  // A trace may hold a later episode, which waits until no trace that is still to come can begin before it.
  let waiting: Episode[] = []
  for await (const page of pagesOfTraces(connection, query)) {
    const horizon = page[0]?.startMs ?? 0
    const [ready, later] = [
      waiting.filter((episode) => startOf(episode) < horizon),
      waiting.filter((episode) => startOf(episode) >= horizon),
    ]
    for (const episode of ready) {
      if (left-- <= 0) return
      yield episode
    }
    const found = await episodesOfTraces(
      connection,
      query.project,
      page.map(({ trace }) => trace),
    )
    waiting = [...later, ...found.filter((episode) => matchesQuery(episode, query))].sort((a, b) => startOf(a) - startOf(b))
  }
  for (const episode of waiting) {
    if (left-- <= 0) return
    yield episode
  }
}

/** All episodes of these traces, by start. */
export async function episodesOfTraces(connection: Connection, project: string, traceIds: readonly string[]): Promise<Episode[]> {
  const [rows, feedback] = await Promise.all([readSpans(connection, project, traceIds), readFeedback(connection, project, traceIds)])
  return assembleEpisodes(rows, feedback).sort((a, b) => startOf(a) - startOf(b))
}

/** The rows of these traces in start order. */
export async function readSpans(connection: Connection, project: string, traceIds: readonly string[]): Promise<SpanRow[]> {
  const rows: SpanRow[] = []
  // PREWHERE, on columns of the key alone: parts that hold none of the traces are not asked for their bodies, and all versions of a row are kept or dropped together.
  const sql = `SELECT ${selectSpanColumns} FROM spans FINAL PREWHERE project = {project:String} AND trace_id IN {traces:Array(String)} ORDER BY spans.start_time, span_id`
  for (const traces of traceIdChunks(traceIds))
    for await (const row of connection.stream(sql, { project, traces })) rows.push(readSpanRow(row))
  return rows.sort((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano) || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0))
}

/** Feedback about these traces, by time. */
export async function readFeedback(connection: Connection, project: string, traceIds: readonly string[]): Promise<FeedbackRow[]> {
  const sql = `SELECT ${selectFeedbackColumns} FROM feedback FINAL WHERE project = {project:String} AND trace_id IN {traces:Array(String)} ORDER BY feedback.at, trace_id, step_id, name, source`
  const rows: FeedbackRow[] = []
  for (const traces of traceIdChunks(traceIds))
    for (const row of await connection.rows(sql, { project, traces })) rows.push(readFeedbackRow(row))
  return rows.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

interface FoundTrace {
  trace: string
  /** No episode of the trace that the query may want begins before it. */
  startMs: number
}

async function* pagesOfTraces(connection: Connection, query: EpisodeQuery): AsyncGenerator<FoundTrace[]> {
  const { sql, parameters } = traceConditions(query)
  const schema = z.object({ trace_id: z.string(), start_ns: z.string() })
  let last = { start_ns: '-9223372036854775808', trace_id: '' }
  for (;;) {
    const found = await connection.rows(
      `SELECT trace_id, toUnixTimestamp64Nano(min(start_time)) AS start_ns FROM trace_days WHERE ${sql}
       GROUP BY trace_id HAVING (start_ns, trace_id) > ({lastStart:Int64}, {lastTrace:String}) ORDER BY start_ns, trace_id LIMIT ${idsAPage}`,
      { ...parameters, lastStart: last.start_ns, lastTrace: last.trace_id },
    )
    const rows = found.map((row) => schema.parse(row))
    for (let at = 0; at < rows.length; at += tracesAPage) {
      yield rows
        .slice(at, at + tracesAPage)
        .map(({ trace_id, start_ns }) => ({ trace: trace_id, startMs: Math.floor(Number(start_ns) / 1e6) }))
    }
    const end = rows.at(-1)
    if (end === undefined || rows.length < idsAPage) return
    last = end
  }
}

function startOf(episode: Episode): number {
  return Date.parse(episode.startedAt)
}
