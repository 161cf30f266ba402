// hg.feedback: what somebody thought of an episode, or of one step of it.

import type { FeedbackRecord } from '../export/types.ts'
import { currentFrame } from './context.ts'
import { diag } from './host-telemetry.ts'
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

/** Outside a run and without `trace` there is nothing that it is about: it is left out, with a warning. */
export function sendFeedback(
  recorder: Recorder,
  project: string,
  name: string,
  value: number | boolean | string,
  options: FeedbackOptions,
): void {
  const traceId = options.trace ?? currentFrame()?.traceId
  if (traceId === undefined) {
    diag.warn(
      `homeground: feedback ${name} was given outside a run and names no trace; pass { trace } as hg.trace() gave it inside the run`,
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
