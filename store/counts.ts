// How much a store holds, by project.
import { z } from 'zod'
import type { Connection } from './connection.ts'
import { episodeRoots } from './episode-roots.ts'

const totalsSchema = z.object({
  project: z.string(),
  episodes: z.coerce.number(),
  model_calls: z.coerce.number(),
  tool_calls: z.coerce.number(),
})
const linkSchema = z.object({ project: z.string(), trace_id: z.string(), spans: z.array(z.tuple([z.string(), z.string(), z.string()])) })

/** As `Store.counts`. */
export async function readCounts(
  connection: Connection,
  project: string | undefined,
): Promise<{ project: string; episodes: number; modelCalls: number; toolCalls: number }[]> {
  const where = project === undefined ? '' : 'WHERE project = {project:String}'
  const parameters = project === undefined ? {} : { project }
  const totals = await connection.rows(
    `SELECT project, sum(loose OR agents > 0) AS episodes, sum(models) AS model_calls, sum(tools) AS tool_calls FROM (
       SELECT project, trace_id, countIf(kind = 'agent') AS agents, countIf(kind = 'model' AND attempt <= 1) AS models, countIf(kind = 'tool') AS tools,
              countIf(kind IN ('model', 'tool', 'io')) > 0 AND agents = 0 AS loose
       FROM spans FINAL ${where} GROUP BY project, trace_id
     ) GROUP BY project ORDER BY project`,
    parameters,
  )
  const extra = new Map<string, number>()
  // Traces with several agents hold one episode a topmost agent: only a climb tells.
  for await (const value of connection.stream(
    `SELECT project, trace_id, groupArray((span_id, parent_span_id, toString(kind))) AS spans FROM spans FINAL ${where}
     GROUP BY project, trace_id HAVING countIf(kind = 'agent') > 1`,
    parameters,
  )) {
    const { project, spans } = linkSchema.parse(value)
    const roots = episodeRoots(spans.map(([id, parent, kind]) => ({ id, parent, isAgent: kind === 'agent' })))
    const stepKinds = new Set(['model', 'tool', 'io'])
    const episodes = new Set(spans.filter(([id, , kind]) => roots.get(id) !== '' || stepKinds.has(kind)).map(([id]) => roots.get(id)))
    extra.set(project, (extra.get(project) ?? 0) + Math.max(0, episodes.size - 1))
  }
  return totals.map((value) => {
    const row = totalsSchema.parse(value)
    return {
      project: row.project,
      episodes: row.episodes + (extra.get(row.project) ?? 0),
      modelCalls: row.model_calls,
      toolCalls: row.tool_calls,
    }
  })
}
