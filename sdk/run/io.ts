// hg.io: what the product reads without the model asking (history, profile, retrieval, flags), taped like a tool. Also its clock and its dice.
import { homeground } from '../trace/attributes.ts'
import type { Json } from '../trace/episode.ts'
import { currentFrame, type Frame } from './context.ts'
import { gather } from './gather.ts'
import { jsonText, jsonValue, wholeValue } from './json-value.ts'
import { type OpenSpan, spanKind } from './open-span.ts'
import { spanOutcome } from './outcome.ts'
import type { Recorder } from './recorder.ts'
import { watchUse } from './watch-use.ts'

/** What a read may be told. */
interface IoOptions {
  key?: unknown
  captureContent?: boolean
}

/** Runs `fn` and records what it gave, or what the product read of it; in a replay the tape answers instead (as JSON: a Date comes back as text). */
export async function recordIo<Result>(
  recorder: Recorder,
  name: string,
  fn: () => Result | Promise<Result>,
  options: IoOptions = {},
): Promise<Result> {
  const { key, captureContent } = recorder.guard(() => read(options), {})
  const current = currentFrame()
  const frame: Frame | undefined = captureContent === undefined ? current : { ...current, agents: current?.agents ?? [], captureContent }
  const span = recorder.guard(() => begin(recorder, frame, name, key), undefined)
  if (span === undefined) return await fn()
  const outcome = spanOutcome(recorder, span, current ?? { agents: [] }, (result) => {
    if (result !== undefined) span.attributes[homeground.ioResult] = result
  })
  try {
    const result = await answer(recorder, frame, name, jsonValue(key), fn)
    watchUse(result, outcome)
    return result
  } catch (error) {
    outcome.failed(error)
    throw error
  }
}

/** A read that cannot wait (the clock, a random number): recorded as an io read of that name. */
export function recordInstant(recorder: Recorder, name: 'now' | 'random', live: () => number): number {
  const frame = currentFrame()
  const value = frame?.replay?.seam[name]?.() ?? live()
  recorder.guard(() => {
    const span = begin(recorder, frame, name, undefined)
    const text = recorder.capturesContent(frame) ? jsonText(value) : undefined
    if (text !== undefined) span.attributes[homeground.ioResult] = text
    recorder.end(span)
  }, undefined)
  return value
}

/** Here, once: products in JavaScript give null. */
function read(options: IoOptions | null): IoOptions {
  const { key, captureContent } = options ?? {}
  return typeof captureContent === 'boolean' ? { key, captureContent } : { key }
}

async function answer<Result>(
  recorder: Recorder,
  frame: Frame | undefined,
  name: string,
  key: Json | undefined,
  fn: () => Result | Promise<Result>,
): Promise<Result> {
  const replay = frame?.replay
  replay?.signal?.throwIfAborted()
  if (replay?.seam.io === undefined) return await fn()
  const live = async (): Promise<Json | undefined> => wholeValue(await gather(await fn()))
  // A recorded answer has the shape of the live one, or the recording is not of this product.
  return (await replay.seam.io({
    name,
    key: key === undefined ? undefined : recorder.redacted(key, 'io.key'),
    agents: frame?.agents ?? [],
    live,
  })) as Result
}

function begin(recorder: Recorder, frame: Frame | undefined, name: string, key: unknown): OpenSpan {
  const span = recorder.start(`io ${name}`, spanKind.internal, frame)
  span.attributes[homeground.ioName] = name
  const text = recorder.capturesContent(frame) ? jsonText(key) : undefined
  if (text !== undefined) span.attributes[homeground.ioKey] = text
  return span
}
