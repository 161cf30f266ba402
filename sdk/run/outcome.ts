// What comes of a call, as its span says it.
import { homeground } from '../trace/attributes.ts'
import { enterFrame, type Frame } from './context.ts'
import { errorOf } from './error-of.ts'
import { jsonText } from './json-value.ts'
import { leftOpen, type OpenSpan } from './open-span.ts'
import type { Recorder } from './recorder.ts'

/** How a call ends: by `done`, `failed` or `left`, the first of them. None of its methods throws. */
export interface Outcome {
  /** Runs a part of the call in its context: what is lazy runs while the product uses it. */
  enter<T>(part: () => T): T
  /** With its value; where that is iterated with all that it yielded (text joined), or what it returned. */
  done(value: unknown): void
  failed(error: unknown): void
  /** The product holds what will give the outcome, or has just used it; `soFar` says what has come of it. */
  handed(soFar: () => unknown): void
  /** The product's use of it cannot be seen, or never came to an end. */
  left(soFar?: unknown): void
}

/** Ends `span`, of a call that runs in `frame`; `fill` completes its attributes, off the product's tick, with the result's text where content is captured. */
export function spanOutcome(recorder: Recorder, span: OpenSpan, frame: Frame, fill: (result: string | undefined) => void): Outcome {
  let usedMs: number | undefined
  let known: unknown
  const end = (value: unknown, error: OpenSpan['error'], endMs?: number): void => {
    if (span.endMs !== undefined) return
    // Now, not later: the product may change what it has.
    const result = recorder.guard(() => (recorder.capturesContent(span.frame) ? jsonText(value) : undefined), undefined)
    span.error = error
    recorder.end(span, () => fill(result), endMs)
  }
  span.leave = () => end(undefined, leftOpen)
  return {
    enter: (part) => enterFrame(frame, part),
    done: (value) => end(value, undefined),
    failed: (error) => end(undefined, errorOf(error)),
    handed: (soFar) => {
      usedMs = recorder.now()
      if (known === soFar) return
      known = soFar
      span.leave = () => end(soFar(), leftOpen)
    },
    left: (soFar) => {
      if (span.endMs === undefined) span.attributes[homeground.partial] = true
      end(soFar, undefined, usedMs)
    },
  }
}
