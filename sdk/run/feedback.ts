// hg.feedback: what somebody thought of an episode, or of one step of it.

import type { FeedbackRecord } from '../export/types.ts'
import { currentFrame } from './context.ts'
import { activeHostSpan } from './host-telemetry.ts'
import type { Recorder } from './recorder.ts'
import { warnHost } from './warn-host.ts'

/** What feedback is about, and who says it. */
export interface FeedbackOptions {
  /** Trace id of the episode, as `hg.trace()` gave it. @default that of the run that this is called in */
  trace?: string
  /** Span id of a step; absent = the whole episode. */
  step?: string
  comment?: string
  /** Who says it. @default 'user' */
  source?: string
}

/** The trace id that spans made here would have, where that is known before they are. */
export function currentTrace(): string | undefined {
  return currentFrame()?.traceId ?? activeHostSpan()?.traceId
}

/** What the collector would refuse, and what is about nothing (outside a run and without `trace`), is counted as dropped, with one warning. */
export function sendFeedback(
  recorder: Recorder,
  project: string,
  name: string,
  value: number | boolean | string,
  options: FeedbackOptions,
): void {
  const traceId = options.trace ?? currentTrace()
  const { sink, redaction, stats } = recorder.options
  const fault = faultOf(name, value, traceId, options)
  if (fault !== undefined || traceId === undefined) {
    stats.droppedFeedback += 1
    warnHost(stats, `feedback ${String(name)} ${fault}`)
    return
  }
  // A rollout is scored by its rubric, not by the product.
  if (currentFrame()?.replay !== undefined) return
  // Nobody could say what it is about.
  if (!recorder.keeps(traceId)) {
    stats.unsampled += 1
    return
  }
  const feedback: FeedbackRecord = {
    project,
    traceId,
    ...(options.step === undefined ? {} : { stepId: options.step }),
    name,
    value,
    ...(options.comment === undefined ? {} : { comment: options.comment }),
    source: options.source ?? 'user',
    at: new Date().toISOString(),
  }
  sink.addFeedback(redaction === undefined ? feedback : redaction.feedback(feedback))
}

/** Products in JavaScript, and numbers that are none, get past the types. */
function faultOf(name: unknown, value: unknown, traceId: unknown, { step, comment, source }: FeedbackOptions): string | undefined {
  if (traceId === undefined)
    return 'was given outside a run and names no trace: it is left out. Pass { trace }, as hg.trace() gave it inside the run.'
  if (typeof traceId !== 'string' || !/^[0-9a-f]{32}$/i.test(traceId))
    return 'is left out: its `trace` is not 32 hex digits, as hg.trace() gives it inside the run.'
  if (step !== undefined && !(typeof step === 'string' && /^[0-9a-f]{16}$/i.test(step)))
    return 'is left out: its `step` is not the 16 hex digits of a span.'
  if (typeof name !== 'string' || name === '') return 'is left out: its name is empty or no text.'
  if (!(typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)))
    return 'is left out: its value is neither a finite number nor a boolean nor text.'
  if ([comment, source].some((each) => each !== undefined && typeof each !== 'string') || source === '')
    return 'is left out: its `comment` or `source` is no text.'
  return undefined
}
