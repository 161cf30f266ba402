// Evaluation events (gen_ai.evaluation.result) become feedback: the score, else the label. One that failed says nothing, least of all 0.
import { type Attributes, type AttributeValue, evaluation, type FeedbackRow, genAi, projectOf } from '@homeground/sdk/trace'
import { longestProject } from './check-span.ts'

/** What an event says, and the resource that says for which project. */
export interface EventFeedback {
  row: FeedbackRow
  resource: Attributes
}

export interface EventRecord {
  /** '' where a log record is no event. */
  name: string
  timeUnixNano: bigint
  /** Hex as sent; '' where absent. */
  traceId: string
  spanId: string
  attributes: Attributes
  /** A log record's own. */
  body?: AttributeValue
  resource: Attributes
  scope: { name: string }
}

export type EventOutcome = { kind: 'feedback'; said: EventFeedback } | { kind: 'rejected'; reason: string } | { kind: 'nothing' }

/** What an event says. Other events, plain log records and failed evaluations say nothing. */
export function feedbackOfEvent(event: EventRecord): EventOutcome {
  const { attributes } = event
  if (event.name !== evaluation.eventName) return { kind: 'nothing' }
  if (attributes[genAi.errorType] !== undefined) return { kind: 'nothing' }
  if (!/^(?!0{32})[0-9a-f]{32}$/.test(event.traceId))
    return { kind: 'rejected', reason: 'an evaluation needs the trace id of what it is about' }
  const name = attributes[evaluation.name]
  if (typeof name !== 'string' || name === '') return { kind: 'rejected', reason: `an evaluation needs ${evaluation.name}` }
  const score = attributes[evaluation.scoreValue]
  const label = attributes[evaluation.scoreLabel]
  const value = typeof score === 'number' && Number.isFinite(score) ? score : typeof score === 'bigint' ? Number(score) : label
  if (typeof value !== 'number' && typeof value !== 'string') return { kind: 'nothing' }
  const project = projectOf(event.resource)
  if (project.length > longestProject) return { kind: 'rejected', reason: `the project's name is longer than ${longestProject} characters` }
  const explanation = attributes[evaluation.explanation]
  return {
    kind: 'feedback',
    said: {
      row: {
        project,
        traceId: event.traceId,
        stepId: /^(?!0{16})[0-9a-f]{16}$/.test(event.spanId) ? event.spanId : '',
        name,
        value,
        comment: typeof explanation === 'string' ? explanation : '',
        source: event.scope.name || 'evaluation',
        at: timeOf(event.timeUnixNano),
      },
      resource: event.resource,
    },
  }
}

/** ISO 8601; what is beyond a Date's range is its limit. */
function timeOf(nanoseconds: bigint): string {
  return new Date(Math.min(Number(nanoseconds / 1_000_000n), 8.64e15)).toISOString()
}
