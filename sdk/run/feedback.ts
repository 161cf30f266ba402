// hg.feedback: what somebody thought of an episode, or of one step of it.

import type { FeedbackRecord } from '../export/types.ts'
import { currentFrame } from './context.ts'
import type { Recorder } from './recorder.ts'

/** What feedback is about, and who says it. */
export interface FeedbackOptions {
  /** Trace id of the episode. @default the run that this is called in */
  trace?: string
  /** Span id of a step; absent = the whole episode. */
  step?: string
  comment?: string
  /** Who says it. @default 'user' */
  source?: string
}

/** Each `homeground()` says it once. */
const warned = new WeakSet<object>()

/** Outside a run and without `trace` there is nothing that it is about: it is counted as dropped, with one warning. */
export function sendFeedback(
  recorder: Recorder,
  project: string,
  name: string,
  value: number | boolean | string,
  options: FeedbackOptions,
): void {
  const traceId = options.trace ?? currentFrame()?.traceId
  if (traceId === undefined) {
    const { stats } = recorder.options
    stats.droppedFeedback += 1
    if (warned.has(stats)) return
    warned.add(stats)
    // A product's mistake, not its weather: it is seen where no logger of OpenTelemetry listens.
    process.emitWarning(
      `homeground: feedback ${name} was given outside a run and names no trace: it is left out. Pass { trace }, as hg.trace() gave it inside the run.`,
    )
    return
  }
  // A rollout is scored by its rubric, not by the product.
  if (currentFrame()?.replay !== undefined) return
  const { sink, redaction } = recorder.options
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
