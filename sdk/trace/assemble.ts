// Rows become episodes: one agent span with no agent above it, and all beneath it. A pure function of the set of rows: the order in which they come says nothing.
import { sha256Hex } from './canonical-json.ts'
import { withChosenOutputs } from './chosen-output.ts'
import { dialectOf } from './dialects/index.ts'
import type { Episode, EpisodeSource, Feedback, Step } from './episode.ts'
import { expandFiles } from './expand-files.ts'
import { foldAttempts } from './fold-attempts.ts'
import { withEventContent } from './foreign/message-events.ts'
import type { FeedbackRow, SpanRow } from './row.ts'
import { compare, SpanTree } from './span-tree.ts'
import { agentCallOf, agentFieldsOf, ioReadOf, isoOf, modelCallOf, msBetween, toolCallOf } from './step-of-row.ts'

/**
 * Episodes of one or more whole traces, by start. Rows of kind `other` are no steps, but carry parents through. Of rows with the same
 * trace and span the later in the list counts; so does the later of two feedback rows about the same thing.
 */
export function assembleEpisodes(rows: readonly SpanRow[], feedback: readonly FeedbackRow[]): Episode[] {
  const said = groupBy(feedback, traceKey)
  const episodes = [...groupBy(rows, traceKey)].flatMap(([key, spans]) => assembleTrace(spans, said.get(key) ?? []))
  return episodes.sort((a, b) => compare(a.startedAt, b.startedAt) || compare(a.id, b.id))
}

interface Assembled {
  episode: Episode
  /** Span ids that belong to it, with the id of the step that each became; '' for the agent itself. */
  spans: Map<string, string>
}

function assembleTrace(rows: readonly SpanRow[], feedback: readonly FeedbackRow[]): Episode[] {
  const tree = new SpanTree(expandFiles(withEventContent(withoutEchoes(rows))))
  const groups = groupBy(tree.inOrder(), (row) => tree.topAgentOf(row)?.spanId ?? '')
  const loose = (groups.get('') ?? []).filter((row) => row.kind !== 'other')
  groups.delete('')
  const assembled = [...groups].map(([top, members]) => {
    const trace = members[0]?.traceId ?? ''
    return assembleEpisode(groups.size === 1 ? trace : episodeId(trace, top), members, tree)
  })
  // Model and tool spans under no agent form one episode.
  const [first] = loose
  if (first !== undefined) assembled.push(assembleEpisode(groups.size === 0 ? first.traceId : episodeId(first.traceId, ''), loose, tree))
  assembled.sort((a, b) => compare(a.episode.startedAt, b.episode.startedAt) || compare(a.episode.id, b.episode.id))
  shareFeedback(assembled, feedback)
  return assembled.map(({ episode }) => episode)
}

function episodeId(trace: string, top: string): string {
  return sha256Hex(trace + top).slice(0, 32)
}

/** `members` in order, the top agent among them where there is one. */
function assembleEpisode(id: string, members: readonly SpanRow[], tree: SpanTree): Assembled {
  const top = members.find((row) => tree.topAgentOf(row) === row)
  const fromTop = top === undefined ? members : [top, ...members.filter((row) => row !== top)]
  const [head] = fromTop
  if (head === undefined) throw new RangeError('an episode has at least one row')
  const session = firstText(fromTop, (row) => row.session)
  const user = firstText(fromTop, (row) => row.user)
  const { steps, spans } = stepsOf(members, top, tree)
  const episode: Episode = {
    format: 1,
    id,
    trace: head.traceId,
    project: head.project,
    ...(session === '' ? {} : { session }),
    ...(user === '' ? {} : { user }),
    tags: tagsOf(fromTop),
    ...(top === undefined ? spanOfTime(members) : agentFieldsOf(top)),
    steps,
    feedback: [],
    source: sourceOf(fromTop),
  }
  return { episode, spans }
}

function stepsOf(members: readonly SpanRow[], top: SpanRow | undefined, tree: SpanTree): { steps: Step[]; spans: Map<string, string> } {
  const spans = new Map<string, string>()
  for (const row of members) spans.set(row.spanId, row === top ? '' : row.spanId)
  const calls = foldAttempts(members.filter((row) => row.kind === 'model'))
  const folded = new Map(calls.map((attempts) => [attempts[0].spanId, attempts]))
  for (const attempts of calls) for (const row of attempts) spans.set(row.spanId, (attempts.at(-1) ?? row).spanId)
  const steps = members.flatMap((row): Step[] => {
    const above = tree.parentOf(row)
    const parent = above === undefined ? undefined : spans.get(above) || above
    const attempts = folded.get(row.spanId)
    if (attempts !== undefined) return [modelCallOf(attempts, parent)]
    if (row.kind === 'tool') return [toolCallOf(row, parent)]
    if (row.kind === 'io') return [ioReadOf(row, parent)]
    return row.kind === 'agent' && row !== top ? [agentCallOf(row, parent)] : []
  })
  return { steps: withChosenOutputs(steps), spans }
}

/** Another instrumentation's spans of calls that we recorded ourselves, told by the response's id, are no calls: they only carry parents through. */
function withoutEchoes(rows: readonly SpanRow[]): readonly SpanRow[] {
  const calls = rows.filter((row) => row.kind === 'model' && row.responseId !== '')
  const ours = new Set(calls.filter((row) => dialectOf(row.api) !== undefined).map((row) => row.responseId))
  const echoes = new Set(calls.filter((row) => dialectOf(row.api) === undefined && ours.has(row.responseId)))
  return echoes.size === 0 ? rows : rows.map((row) => (echoes.has(row) ? { ...row, kind: 'other' } : row))
}

function spanOfTime(members: readonly SpanRow[]): Pick<Episode, 'startedAt' | 'durationMs'> {
  const start = members[0]?.startTimeUnixNano ?? 0n
  let end = start
  for (const row of members) if (row.endTimeUnixNano > end) end = row.endTimeUnixNano
  return { startedAt: isoOf(start), durationMs: msBetween(start, end) }
}

/** The top's own tags first; variants beside them as `variant.NAME`, so that episodes can be told apart by them. */
function tagsOf(fromTop: readonly SpanRow[]): Record<string, string> {
  const tags = new Map<string, string>()
  const note = (name: string, value: string) => tags.has(name) || tags.set(name, value)
  for (const row of fromTop) {
    for (const [name, value] of Object.entries(row.tags)) note(name, value)
    for (const [name, value] of Object.entries(row.variants)) note(`variant.${name}`, value)
  }
  return Object.fromEntries(tags)
}

function sourceOf(fromTop: readonly SpanRow[]): EpisodeSource {
  const row = fromTop.find(({ source }) => source !== 'trace') ?? fromTop[0]
  if (row === undefined) return { kind: 'trace' }
  return {
    kind: row.source,
    ...(row.sourceRef === '' ? {} : { ref: row.sourceRef }),
    ...(row.run === '' ? {} : { run: row.run }),
    ...(row.arm === '' ? {} : { arm: row.arm }),
    ...(row.task === '' ? {} : { task: row.task }),
    ...(row.repeat < 0 ? {} : { repeat: row.repeat }),
  }
}

/** Feedback about a span goes to that span's episode; about the trace, or a span that is not there, to the trace's first. */
function shareFeedback(assembled: readonly Assembled[], rows: readonly FeedbackRow[]): void {
  const latest = new Map(rows.map((row) => [JSON.stringify([row.stepId, row.name, row.source]), row]))
  const homes = new Map(rows.length === 0 ? [] : assembled.flatMap((one) => [...one.spans.keys()].map((span) => [span, one] as const)))
  for (const row of latest.values()) {
    const home = homes.get(row.stepId) ?? assembled[0]
    home?.episode.feedback.push(feedbackOf(row, home.spans.get(row.stepId) ?? row.stepId))
  }
  for (const { episode } of assembled) {
    episode.feedback.sort((a, b) => compare(a.at, b.at) || compare(a.name, b.name) || compare(a.source, b.source))
  }
}

function feedbackOf(row: FeedbackRow, stepId: string): Feedback {
  return {
    name: row.name,
    value: row.value,
    ...(row.comment === '' ? {} : { comment: row.comment }),
    source: row.source,
    at: row.at,
    ...(stepId === '' ? {} : { stepId }),
  }
}

function firstText(rows: readonly SpanRow[], field: (row: SpanRow) => string): string {
  return rows.map(field).find((text) => text !== '') ?? ''
}

function traceKey({ project, traceId }: { project: string; traceId: string }): string {
  return `${traceId} ${project}`
}

/** `Map.groupBy` is not in Node 20. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
