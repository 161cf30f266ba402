// The spans that a product's SDK recorded in a rollout, as the one episode of that rollout.
import {
  assembleEpisodes,
  type Episode,
  genAi,
  homeground,
  type Json,
  normaliseSpan,
  operation,
  type SpanRecord,
} from '@homeground/sdk/trace'
import { rounded } from './episode-recorder.ts'
import { rolloutAttributes } from './rollout-attributes.ts'
import type { RolloutJob } from './types.ts'

export interface SpanEpisode {
  job: RolloutJob
  ids: { trace: string; span(): string }
  startedAtMs: number
  durationMs: number
  output: Json | undefined
  error: { type: string; message: string } | undefined
}

/** Several agent runs (the turns of a session), or a product without `hg.agent`, get one agent span above them. Never throws for what a span holds. */
export function episodeOfSpans(spans: readonly SpanRecord[], given: SpanEpisode): Episode {
  const known = new Set(spans.map((span) => span.spanId))
  const roots = spans.filter((span) => span.parentSpanId === undefined || !known.has(span.parentSpanId))
  const [only] = roots
  const single = roots.length === 1 && only?.attributes[genAi.operationName] === operation.invokeAgent
  const [episode] = single ? assembleEpisodes(spans.map(normaliseSpan), []) : []
  return episode === undefined ? underOneAgent(spans, roots, given) : { ...episode, id: given.ids.trace, project: given.job.project }
}

function underOneAgent(spans: readonly SpanRecord[], roots: readonly SpanRecord[], given: SpanEpisode): Episode {
  const { job, ids } = given
  const top: SpanRecord = {
    traceId: ids.trace,
    spanId: ids.span(),
    name: `${operation.invokeAgent} ${job.unit}`,
    kind: 1,
    startTimeUnixNano: earliest(spans, BigInt(Math.round(given.startedAtMs)) * 1_000_000n),
    endTimeUnixNano: BigInt(Math.round((given.startedAtMs + given.durationMs) * 1_000)) * 1_000n,
    attributes: {
      ...rolloutAttributes(job),
      [genAi.operationName]: operation.invokeAgent,
      [genAi.agentName]: job.unit,
      ...(job.task.input === undefined ? {} : { [homeground.agentInput]: JSON.stringify(job.task.input) }),
      ...(given.output === undefined ? {} : { [homeground.agentOutput]: JSON.stringify(given.output) }),
      ...(given.error === undefined ? {} : { [genAi.errorType]: given.error.type, [homeground.errorMessage]: given.error.message }),
    },
    status: { code: given.error === undefined ? 0 : 2 },
    events: [],
    resource: { [homeground.project]: job.project },
    scope: { name: 'homeground' },
  }
  const beneath = spans.map((span) => (roots.includes(span) ? { ...span, traceId: ids.trace, parentSpanId: top.spanId } : span))
  const [episode] = assembleEpisodes([top, ...beneath].map(normaliseSpan), [])
  if (episode === undefined) throw new TypeError('an agent span always gives an episode')
  return { ...episode, id: ids.trace, project: job.project, durationMs: rounded(given.durationMs) }
}

function earliest(spans: readonly SpanRecord[], fallback: bigint): bigint {
  let first = fallback
  for (const span of spans) if (span.startTimeUnixNano < first) first = span.startTimeUnixNano
  return first
}
