// An episode becomes rows again, for imports: assembleEpisodes gives the same episode back.

import { homeground } from './attributes.ts'
import { canonicalBody } from './canonical-body.ts'
import { canonicalJson, sha256Hex } from './canonical-json.ts'
import { dialectOf } from './dialects/index.ts'
import { emptyRow } from './empty-row.ts'
import type { Episode, Json, ModelCall, Step, StepError } from './episode.ts'
import type { FeedbackRow, RowKind, SpanRow } from './row.ts'

/** The agent's row, where the episode has an agent, and one a step. Bodies are in the step's dialect where it can say all, else canonical. */
export function rowsOfEpisode(episode: Episode): SpanRow[] {
  const top = episode.agent === undefined ? undefined : topSpanId(episode)
  const base = baseOf(episode)
  const rows = episode.steps.map((step, index): SpanRow => ({ ...base, ...placeOf(step, index, step.parent ?? top), ...columnsOf(step) }))
  if (top === undefined) return rows
  const start = nano(episode.startedAt)
  const agent: SpanRow = {
    ...base,
    kind: 'agent',
    spanId: top,
    name: `invoke_agent ${episode.agent?.name}`,
    startTimeUnixNano: start,
    endTimeUnixNano: start + duration(episode.durationMs),
    agentName: episode.agent?.name ?? '',
    agentVersion: episode.agent?.version ?? '',
    input: jsonText(episode.input),
    output: jsonText(episode.output),
    ...errorColumns(episode.error),
    attributes: argumentCount(episode.agent),
  }
  return [agent, ...rows]
}

function argumentCount(agent: Episode['agent']): Record<string, string> {
  return agent?.arguments === undefined ? {} : { [homeground.agentArguments]: String(agent.arguments) }
}

/** An episode's feedback as rows, for a store. */
export function feedbackRowsOfEpisode(episode: Episode): FeedbackRow[] {
  return episode.feedback.map(({ stepId = '', comment = '', ...feedback }) => ({
    ...feedback,
    project: episode.project,
    traceId: episode.trace,
    stepId: stepId === '' && episode.agent !== undefined && episode.id !== episode.trace ? topSpanId(episode) : stepId,
    comment,
  }))
}

/** The parent that the steps name and that is no step itself; an id made from the episode's where they name none. */
function topSpanId(episode: Episode): string {
  const steps = new Set(episode.steps.map(({ id }) => id))
  const named = episode.steps.find(({ parent }) => parent !== undefined && !steps.has(parent))?.parent
  return named ?? sha256Hex(`${episode.id} agent`).slice(0, 16)
}

function baseOf(episode: Episode): SpanRow {
  const { source } = episode
  const tags: Record<string, string> = {}
  const variants: Record<string, string> = {}
  for (const [name, value] of Object.entries(episode.tags)) {
    if (name.startsWith('variant.')) variants[name.slice('variant.'.length)] = value
    else tags[name] = value
  }
  return {
    ...emptyRow(),
    project: episode.project,
    traceId: episode.trace,
    session: episode.session ?? '',
    user: episode.user ?? '',
    tags,
    variants,
    source: source.kind,
    sourceRef: source.ref ?? '',
    run: source.run ?? '',
    arm: source.arm ?? '',
    task: source.task ?? '',
    repeat: source.repeat ?? -1,
  }
}

/** Times hold milliseconds; the nanoseconds below keep the order of steps that started in the same one. */
function placeOf(step: Step, index: number, parent: string | undefined): Partial<SpanRow> {
  const start = nano(step.startedAt) + BigInt(Math.min(index, 999_999))
  return {
    spanId: step.id,
    parentSpanId: parent ?? '',
    startTimeUnixNano: start,
    endTimeUnixNano: start + duration(step.durationMs),
    ...errorColumns(step.error),
  }
}

function columnsOf(step: Step): Partial<SpanRow> & { kind: RowKind; name: string } {
  switch (step.kind) {
    case 'model':
      return modelColumns(step)
    case 'tool':
      return {
        kind: 'tool',
        name: `execute_tool ${step.name}`,
        toolName: step.name,
        callId: step.callId ?? '',
        effect: step.effect,
        arguments: JSON.stringify(step.arguments),
        result: jsonText(step.result),
        offTape: step.offTape ?? '',
      }
    case 'io':
      return { kind: 'io', name: `io ${step.name}`, toolName: step.name, arguments: jsonText(step.key), result: jsonText(step.result) }
    case 'agent':
      return {
        kind: 'agent',
        name: `invoke_agent ${step.name}`,
        agentName: step.name,
        input: jsonText(step.input),
        output: jsonText(step.output),
      }
  }
}

function modelColumns(step: ModelCall): Partial<SpanRow> & { kind: RowKind; name: string } {
  const usage = step.response?.usage ?? {}
  return {
    kind: 'model',
    name: `chat ${step.model}`,
    api: step.api,
    provider: step.provider,
    model: step.model,
    responseModel: step.response?.model ?? '',
    responseId: step.response?.id ?? '',
    finishReasons: step.response?.finishReasons ?? [],
    ...usage,
    ...(step.firstChunkMs === undefined ? {} : { firstChunkMs: step.firstChunkMs }),
    attempt: step.attempts ?? 1,
    partial: step.partial ?? false,
    requestBody: JSON.stringify(requestBody(step)),
    responseBody: jsonText(responseBody(step)),
  }
}

function requestBody(step: ModelCall): Json {
  const dialect = dialectOf(step.api)
  const request = { ...step.request, model: step.model }
  const written = dialect?.writeRequest(request)
  if (written !== undefined && same(dialect?.readRequest(throughJson(written)), request)) return written
  return { [canonicalBody]: throughJson(request) }
}

function responseBody({ api, response, tokens }: ModelCall): Json | undefined {
  if (response === undefined) return undefined
  const dialect = dialectOf(api)
  const written = tokens === undefined ? dialect?.writeResponse(response) : undefined
  if (written !== undefined && same(dialect?.readResponse(throughJson(written)), response)) return written
  return { [canonicalBody]: throughJson({ response, ...(tokens === undefined ? {} : { tokens }) }) }
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(throughJson(a)) === canonicalJson(throughJson(b))
}

function throughJson(value: unknown): Json {
  const copy: Json = JSON.parse(JSON.stringify(value ?? null))
  return copy
}

function errorColumns(error: StepError | undefined): Pick<SpanRow, 'errorType' | 'errorMessage'> {
  return { errorType: error?.type ?? '', errorMessage: error?.message ?? '' }
}

function jsonText(value: Json | undefined): string {
  return value === undefined ? '' : JSON.stringify(value)
}

function nano(iso: string): bigint {
  return BigInt(Date.parse(iso)) * 1_000_000n
}

function duration(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6))
}
