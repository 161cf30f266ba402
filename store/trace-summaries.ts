// One line an episode, newest first, without reading a body: what `homeground traces list` shows.
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { traceConditions } from './episode-query.ts'
import { episodeRoots } from './episode-roots.ts'
import { textMap } from './text-map.ts'
import { traceIdChunks } from './trace-id-chunks.ts'
import type { EpisodeQuery, TraceSummary } from './types.ts'

/** As `Store.traces`. */
export async function readSummaries(connection: Connection, query: EpisodeQuery): Promise<TraceSummary[]> {
  const limit = query.limit ?? 50
  const { sql, parameters } = traceConditions(query)
  // Nearly always the newest traces are the list, and one statement answers: each costs more in itself than what it reads.
  // On a cluster every shard gives its own newest, among which the newest of all are.
  const newest = `(SELECT trace_id FROM (${newestDays(sql, limit * 2)}) LIMIT 1 BY trace_id LIMIT ${limit})`
  const seen = new Set<string>()
  const found: Found[] = []
  const read = async (traces: Traces): Promise<void> => {
    for await (const rows of headsByTrace(connection, query, traces)) {
      seen.add(rows[0].trace_id)
      found.push(...episodesOf(rows, query))
    }
  }
  await read({ sql: newest, parameters })
  if (found.length < limit) {
    for await (const traces of newestTraces(connection, query, limit, new Set(seen))) {
      await read({ sql: '{traces:Array(String)}', parameters: { project: query.project, traces } })
      if (found.length >= limit) break
    }
  }
  const listed = found
    .sort(({ summary: a }, { summary: b }) => (a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0))
    .slice(0, limit)
  await addPreviews(connection, query.project, listed)
  return listed.map(({ summary }) => summary)
}

/** In the order of the table's key: read from its end, and no further than needed. A trace may stand in it several times: for every part that was not merged yet, and for every day. */
function newestDays(conditions: string, rows: number): string {
  return `SELECT trace_id FROM trace_days WHERE ${conditions} ORDER BY day DESC, start_time DESC LIMIT ${rows}`
}

/** Traces that were not seen by their newest day and their first span on it, newest first, each once: as many as the list is long, then more and more. */
async function* newestTraces(connection: Connection, query: EpisodeQuery, limit: number, seen: Set<string>): AsyncGenerator<string[]> {
  const { sql, parameters } = traceConditions(query)
  for (let asked = limit * 2; ; asked *= 4) {
    const found = await connection.rows(`${newestDays(sql, asked)} SETTINGS max_threads = 1`, parameters)
    const newest = new Set(found.map((row) => z.object({ trace_id: z.string() }).parse(row).trace_id))
    const fresh = [...newest].filter((trace) => !seen.has(trace))
    for (let at = 0; at < fresh.length; at += limit) yield* traceIdChunks(fresh.slice(at, at + limit))
    if (found.length < asked) return
    for (const trace of fresh) seen.add(trace)
  }
}

const lightSchema = z.object({
  trace_id: z.string(),
  /** '0': none. */
  span: z.string(),
  parent: z.string(),
  kind: z.enum(['other', 'model', 'tool', 'io', 'agent']),
  start_ms: z.coerce.number(),
  duration_ms: z.coerce.number(),
  session: z.string(),
  agent_name: z.string(),
  error_type: z.string(),
  model: z.string(),
  input_tokens: z.coerce.number().nullable(),
  output_tokens: z.coerce.number().nullable(),
  attempt: z.number(),
  input_preview: z.string(),
  output_preview: z.string(),
  // Read where the query asks about them: each column costs a block a trace, and its parsing a row.
  user: z.string().optional(),
  tags: textMap.optional(),
  response_model: z.string().optional(),
  tool_name: z.string().optional(),
  source: z.string().optional(),
  run: z.string().optional(),
})
type LightRow = z.infer<typeof lightSchema>

const previewSchema = lightSchema.pick({ trace_id: true, span: true, input_preview: true, output_preview: true })

/** What follows `IN`, and its parameters, the project among them. */
interface Traces {
  sql: string
  parameters: Record<string, unknown>
}

/** The heads of one trace after the other, as they come: a trace may have any number of them. */
async function* headsByTrace(
  connection: Connection,
  query: EpisodeQuery,
  traces: Traces,
): AsyncGenerator<readonly [LightRow, ...LightRow[]]> {
  const asked: Record<string, unknown> = { ...query, response_model: query.model, tool_name: query.tool }
  const columns = Object.entries(lightSchema.shape).flatMap(([name, type]) =>
    type instanceof z.ZodOptional && asked[name] === undefined ? [] : [name],
  )
  // One thread: so few rows are read that sharing them out would take longer. The cache: who looks at a list looks at it again.
  const sql = `SELECT ${columns.join(', ')} FROM span_heads FINAL PREWHERE project = {project:String} AND trace_id IN ${traces.sql}
    ORDER BY trace_id, start_ms, span SETTINGS max_threads = 1, use_uncompressed_cache = 1`
  let rows: [LightRow, ...LightRow[]] | undefined
  for await (const value of connection.stream(sql, traces.parameters)) {
    const row = lightSchema.parse(value)
    if (rows?.[0].trace_id === row.trace_id) rows.push(row)
    else {
      if (rows !== undefined) yield rows
      rows = [row]
    }
  }
  if (rows !== undefined) yield rows
}

/** Where no agent is, the calls' own previews are shown; they are not among the heads. */
async function addPreviews(connection: Connection, project: string, found: readonly Found[]): Promise<void> {
  const loose = new Map(
    found.flatMap((one) => (one.calls === undefined ? [] : [[one.summary.trace, { ...one, calls: one.calls }] as const])),
  )
  const sql = `SELECT trace_id, bitAnd(cityHash64(span_id), 0xFFFFFFFFFF) AS span, input_preview, output_preview FROM spans FINAL
    PREWHERE project = {project:String} AND trace_id IN {traces:Array(String)} WHERE kind = 'model' AND span IN {spans:Array(UInt64)}`
  for (const traces of traceIdChunks([...loose.keys()])) {
    // 40 bits: numbers can say them.
    const spans = traces.flatMap((trace) => Object.values(loose.get(trace)?.calls ?? {}).map(Number))
    for (const value of await connection.rows(sql, { project, traces, spans })) {
      const { trace_id, span, input_preview, output_preview } = previewSchema.parse(value)
      const { summary, calls } = loose.get(trace_id) ?? {}
      if (summary === undefined) continue
      if (span === calls?.first) summary.inputPreview = input_preview
      if (span === calls?.last) summary.outputPreview = output_preview
    }
  }
}

interface Found {
  summary: TraceSummary
  /** Spans whose previews are the episode's, where no agent has them. */
  calls?: { first: string; last: string }
}

/** The episodes among the rows of one trace that the query asks for (feedback aside, which the search has looked at by trace). */
function episodesOf(rows: readonly LightRow[], query: EpisodeQuery): Found[] {
  const roots = episodeRoots(
    rows.map((row) => ({ id: row.span, parent: row.parent === '0' ? '' : row.parent, isAgent: row.kind === 'agent' })),
  )
  const groups = new Map<string, LightRow[]>()
  for (const row of rows) {
    const root = roots.get(row.span)
    // A span of another kind under no agent belongs to no episode.
    if (root === undefined || (root === '' && (row.kind === 'other' || row.kind === 'agent'))) continue
    const group = groups.get(root)
    if (group === undefined) groups.set(root, [row])
    else group.push(row)
  }
  return [...groups].filter(([root, group]) => isWanted(root, group, query)).map(([root, group]) => episodeOf(root, group))
}

function episodeOf(root: string, group: readonly LightRow[]): Found {
  const agent = group.find((row) => row.span === root)
  const calls = group.filter((row) => row.kind === 'model')
  const [first, last] = [calls[0], calls.at(-1)]
  const start = startMs(agent, group)
  const end = (agent === undefined ? group : [agent]).reduce((latest, row) => Math.max(latest, row.start_ms + row.duration_ms), start)
  const summary = {
    trace: group[0]?.trace_id ?? '',
    startedAt: new Date(start).toISOString(),
    durationMs: end - start,
    agent: agent?.agent_name ?? '',
    session: group.find((row) => row.session !== '')?.session ?? '',
    modelCalls: calls.filter((row) => row.attempt <= 1).length,
    toolCalls: group.filter((row) => row.kind === 'tool').length,
    models: [...new Set(calls.map((row) => row.model).filter((model) => model !== ''))],
    inputTokens: sum(calls.map((row) => row.input_tokens)),
    outputTokens: sum(calls.map((row) => row.output_tokens)),
    errors: group.filter((row) => row.error_type !== '').length,
    inputPreview: agent?.input_preview ?? '',
    outputPreview: agent?.output_preview ?? '',
  }
  const own = agent === undefined && first !== undefined && last !== undefined ? { calls: { first: first.span, last: last.span } } : {}
  return { summary, ...own }
}

function isWanted(root: string, group: readonly LightRow[], query: EpisodeQuery): boolean {
  const agent = group.find((row) => row.span === root)
  const start = startMs(agent, group)
  const some = (test: (row: LightRow) => boolean) => group.some(test)
  return (
    (query.agent === undefined || agent?.agent_name === query.agent) &&
    (query.model === undefined || some((row) => row.model === query.model || row.response_model === query.model)) &&
    (query.session === undefined || some((row) => row.session === query.session)) &&
    (query.user === undefined || some((row) => row.user === query.user)) &&
    (query.tool === undefined || some((row) => row.kind === 'tool' && row.tool_name === query.tool)) &&
    (query.source === undefined || some((row) => row.source === query.source)) &&
    (query.run === undefined || some((row) => row.run === query.run)) &&
    Object.entries(query.tags ?? {}).every(([key, value]) => some((row) => row.tags?.[key] === value)) &&
    (query.from === undefined || start >= Date.parse(query.from)) &&
    (query.to === undefined || start < Date.parse(query.to))
  )
}

/** Rows come in order of their start. */
function startMs(agent: LightRow | undefined, group: readonly LightRow[]): number {
  return (agent ?? group[0])?.start_ms ?? 0
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}
