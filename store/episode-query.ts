// An EpisodeQuery in two halves: SQL that finds the traces which may hold such an episode, and the exact test on the assembled episode.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { EpisodeQuery } from './types.ts'

/** A condition on `trace_id`, and on `day` where the query has a time; values travel as bound parameters. */
export function traceConditions(query: EpisodeQuery): { sql: string; parameters: Record<string, unknown> } {
  const parameters: Record<string, unknown> = { project: query.project }
  const conditions = ['project = {project:String}']
  const bind = (value: unknown): string => {
    const name = `p${Object.keys(parameters).length}`
    parameters[name] = value
    return name
  }
  // Each condition may be met by another span of the trace. Versions that were replaced may match too: the exact test comes later.
  const someSpan = (sql: string) => conditions.push(`trace_id IN (SELECT trace_id FROM spans WHERE project = {project:String} AND ${sql})`)

  if (query.agent !== undefined) someSpan(`kind = 'agent' AND agent_name = {${bind(query.agent)}:String}`)
  if (query.model !== undefined) {
    const model = bind(query.model)
    someSpan(`kind = 'model' AND (model = {${model}:String} OR response_model = {${model}:String})`)
  }
  if (query.session !== undefined) someSpan(`session = {${bind(query.session)}:String}`)
  if (query.user !== undefined) someSpan(`user = {${bind(query.user)}:String}`)
  if (query.tool !== undefined) someSpan(`kind = 'tool' AND tool_name = {${bind(query.tool)}:String}`)
  for (const [key, value] of Object.entries(query.tags ?? {})) someSpan(`tags[{${bind(key)}:String}] = {${bind(value)}:String}`)
  if (query.source !== undefined) someSpan(`source = {${bind(query.source)}:String}`)
  if (query.run !== undefined) someSpan(`run = {${bind(query.run)}:String}`)
  if (query.feedback !== undefined) {
    const name = bind(query.feedback.name)
    conditions.push(`trace_id IN (SELECT trace_id FROM feedback WHERE project = {project:String} AND name = {${name}:String})`)
  }
  const from = dayOf('from', query.from)
  const to = dayOf('to', query.to)
  if (from !== undefined) conditions.push(`day >= {${bind(from)}:Date}`)
  if (to !== undefined) conditions.push(`day <= {${bind(to)}:Date}`)
  return { sql: conditions.join(' AND '), parameters }
}

/** Undefined where there is no time, or none that ClickHouse's Date can say (1970 to June 2149): 9999 would be read as a day of the past. The exact test comes later. */
function dayOf(name: 'from' | 'to', time: string | undefined): string | undefined {
  if (time === undefined) return undefined
  const ms = Date.parse(time)
  if (Number.isNaN(ms)) {
    throw new HomegroundError('invalid-argument', `${name}=${time} is no time`, {
      hint: 'write it like 2026-01-31 or 2026-01-31T12:00:00Z',
    })
  }
  return ms >= 0 && ms < Date.UTC(2149, 5, 6) ? new Date(ms).toISOString().slice(0, 10) : undefined
}

/** Whether the episode is what the query asks for. */
export function matchesQuery(episode: Episode, query: EpisodeQuery): boolean {
  const started = Date.parse(episode.startedAt)
  return (
    episode.project === query.project &&
    (query.agent === undefined || episode.agent?.name === query.agent) &&
    (query.session === undefined || episode.session === query.session) &&
    (query.user === undefined || episode.user === query.user) &&
    (query.source === undefined || episode.source.kind === query.source) &&
    (query.run === undefined || episode.source.run === query.run) &&
    (query.from === undefined || started >= Date.parse(query.from)) &&
    (query.to === undefined || started < Date.parse(query.to)) &&
    (query.model === undefined ||
      episode.steps.some((step) => step.kind === 'model' && (step.model === query.model || step.response?.model === query.model))) &&
    (query.tool === undefined || episode.steps.some((step) => step.kind === 'tool' && step.name === query.tool)) &&
    Object.entries(query.tags ?? {}).every(([key, value]) => episode.tags[key] === value) &&
    hasFeedback(episode, query.feedback)
  )
}

function hasFeedback(episode: Episode, wanted: EpisodeQuery['feedback']): boolean {
  if (wanted === undefined) return true
  return episode.feedback.some(({ name, value }) => name === wanted.name && (wanted.value === undefined || value === wanted.value))
}
