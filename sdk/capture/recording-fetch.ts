// A fetch that records. It calls the fetch that it was given with the same arguments and gives what that gives.
import { currentFrame, type Replay, runStorage } from '../run/context.ts'
import type { Recorder } from '../run/recorder.ts'
import { ModelCall } from './model-call.ts'
import { headersOf, type ModelRequest, readModelRequest } from './model-request.ts'
import { noteNativeReaders } from './watch-response.ts'

/** The platform's fetch. */
export type Fetch = typeof globalThis.fetch

const marker = Symbol.for('@homeground/sdk/recording@1')
/** True from the `shutdown()` of the one that it records for. */
const overMarker = Symbol.for('@homeground/sdk/recording-over@1')
const recorderMarker = Symbol.for('@homeground/sdk/recording-for@1')

/** True for a fetch made by any copy of `recordingFetch`, as long as it records. */
export function isRecording(value: unknown): boolean {
  return typeof value === 'function' && Reflect.get(value, marker) !== undefined && Reflect.get(value, overMarker) !== true
}

/** Whom a client's fetch records for; `undefined` where it is nobody's, or stands for the global one, which other clients share. */
export function recorderOf(value: unknown): unknown {
  return isRecording(value) && typeof value === 'function' ? Reflect.get(value, recorderMarker) : undefined
}

/** The fetch underneath, where this one records: our own requests must not be recorded. */
export function unrecorded(value: Fetch): Fetch {
  const inner: Fetch | undefined = Reflect.get(value, marker)
  return inner ?? value
}

/** The global fetch when the SDK was loaded: it calls none that records. */
const loaded = unrecorded(globalThis.fetch)

export interface RecordingFetchOptions {
  /** Record all POSTs (a vendor's client), not only known model endpoints (the global fetch). */
  every: boolean
  maxBodyBytes: number
  /** What is called in the end, where that may be another one each time. @default the fetch underneath */
  target?: () => Fetch
}

export function recordingFetch(inner: Fetch, recorder: Recorder, options: RecordingFetchOptions): Fetch {
  noteNativeReaders()
  runStorage.recordingFetches = (runStorage.recordingFetches ?? 0) + 1
  const { target } = options
  // A fetch of the product's own may call another one that records. Without need no frame is run: before Node 24 the first one slows every promise there is.
  const mayNest = (): boolean => (target === undefined ? inner !== loaded && (runStorage.recordingFetches ?? 0) > 1 : target() !== loaded)
  function fetch(this: unknown, ...given: Parameters<Fetch>): Promise<Response> {
    const [input, init] = given
    const pass = (): Promise<Response> => Reflect.apply(inner, this, given)
    const request = recorder.guard(() => readModelRequest(input, init, options.every), undefined)
    if (request === undefined) return pass()
    const frame = currentFrame()
    if (frame?.sending !== undefined && frame.sending === request.body) return pass()
    const call = recorder.guard(() => new ModelCall(recorder, request, options.maxBodyBytes), undefined)
    if (call === undefined) return pass()
    const { body } = request
    const send = body !== undefined && mayNest() ? () => runStorage.run({ ...(frame ?? { agents: [] }), sending: body }, pass) : pass
    const promise = once(
      attempt(
        () => (frame?.replay === undefined ? send() : replayed(frame.replay, frame.agents, request, headersOf(input, init), send)),
        call,
      ),
    )
    const respond = (response: Response): Response => {
      watch(response, call, recorder)
      return response
    }
    if (!(promise instanceof Promise)) {
      respond(promise)
      return promise
    }
    // Not beside the product's own handlers: a promise that we handle is one whose error the process never hears of, where the product forgets it.
    return promise.then(respond, (error: unknown) => {
      recorder.guard(() => call.failed(error), undefined)
      throw error
    })
  }
  Object.defineProperty(fetch, marker, { value: inner })
  if (options.every) Object.defineProperty(fetch, recorderMarker, { value: recorder })
  Object.defineProperty(fetch, overMarker, { get: () => recorder.over })
  return fetch
}

function watch(response: Response, call: ModelCall, recorder: Recorder): void {
  try {
    call.respond(response)
  } catch (error) {
    // No Response that can be watched (a fake's, a frozen one): the call is recorded without its body.
    recorder.failed(error)
    call.end('done')
  }
}

/** A lazy thenable sends each time that it is asked: the caller and we ask one promise of it. What is no promise at all stays as it is. */
function once(given: Promise<Response>): Promise<Response> {
  const lazy =
    typeof given === 'object' && given !== null && !(given instanceof Promise) && typeof Reflect.get(given, 'then') === 'function'
  return lazy ? Promise.resolve(given) : given
}

/** A fetch that throws at once, against its contract, still ends its span. */
function attempt(send: () => Promise<Response>, call: ModelCall): Promise<Response> {
  try {
    return send()
  } catch (error) {
    call.failed(error)
    throw error
  }
}

async function replayed(
  replay: Replay,
  agents: readonly string[],
  request: ModelRequest,
  headers: Headers,
  live: () => Promise<Response>,
): Promise<Response> {
  replay.signal?.throwIfAborted()
  if (replay.seam.model === undefined) return await live()
  await request.pendingBody
  const signals = [request.signal, replay.signal].filter((signal) => signal !== undefined)
  const { url, method, body, endpoint } = request
  return await replay.seam.model({ url, method, headers, body, api: endpoint.api, signal: AbortSignal.any(signals), agents, live })
}
