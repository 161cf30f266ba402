// Sees the body of a Response as its reader reads it. The Response is never rebuilt or cloned: it gets a prototype between itself and its own whose readers are
// hooked, which costs one step whatever the caller does then. What the caller gets comes through us: a promise that we handled beside it would be one whose error
// the process never hears of, where the caller forgets it.
import { types } from 'node:util'
import { jsonText } from '../run/json-value.ts'
import { BodyWatch, type BodyWatcher, isMember, type Member, override, watchStream } from './watch-stream.ts'

/** The platform's own. */
let native: Pick<Response, 'json' | 'text'> | undefined

/** Before any call, and before a spy stands there. Not when the module is loaded: the first look at `Response` has Node load its fetch, which takes as long as all of ours. */
export function noteNativeReaders(): void {
  native ??= { json: Response.prototype.json, text: Response.prototype.text }
}

const readers = ['json', 'text', 'arrayBuffer', 'blob', 'bytes', 'formData'] as const
type Reader = (typeof readers)[number]

/** Of a Response: who watches it, and whether its stream is hooked. */
const key = Symbol('homeground.watch')
/** By the prototype that they hide. */
const prototypes = new WeakMap<object, object>()

/** A response that nobody reads is thrown away by the garbage collector: its watcher is told then. */
const abandoned = new FinalizationRegistry<BodyWatch>((watch) => watch.end('left'))

/**
 * `stream`: each chunk is to be seen, however the body is read. A response without a body has ended.
 * @throws where the Response is not one, or frozen; nothing is hooked then
 */
export function watchResponse(response: Response, watcher: BodyWatcher, { stream }: { stream: boolean }): void {
  const watch = new BodyWatch(watcher)
  // Before its getter is hooked: a body that is read as a whole need not be seen in chunks.
  const body: unknown = response.body
  const prototype: object = Object.getPrototypeOf(response) ?? Object.prototype
  Object.setPrototypeOf(response, hookedPrototype(prototype))
  Object.defineProperty(response, key, { value: watch })
  // A fake's own members hide the prototype's.
  for (const method of readers) {
    const own: unknown = Object.hasOwn(response, method) ? Reflect.get(response, method) : undefined
    if (isMember(own))
      override(
        response,
        method,
        hookedReader(method, () => own),
      )
  }
  if (body === null || body === undefined) watch.end('done')
  else {
    if (stream || Object.hasOwn(response, 'body')) hookStream(response, watch, body)
    abandoned.register(response, watch, watch)
  }
}

/** Asks the one that it hides each time: a test's spy, or an instrumentation, may stand there since. */
function hookedPrototype(prototype: object): object {
  const known = prototypes.get(prototype)
  if (known !== undefined) return known
  const made: object = Object.create(prototype)
  const found = (name: string): Member => Reflect.get(prototype, name)
  for (const method of readers) {
    if (isMember(found(method)))
      override(
        made,
        method,
        hookedReader(method, () => found(method)),
        true,
      )
  }
  if ('body' in prototype)
    Object.defineProperty(made, 'body', {
      get(this: object): unknown {
        const body: unknown = Reflect.get(prototype, 'body', this)
        const watch = watchOf(this)
        if (watch !== undefined) hookStream(this, watch, body)
        return body
      },
      configurable: true,
      enumerable: true,
    })
  // It tees the stream that the Response holds: that must be hooked before.
  if (isMember(found('clone'))) {
    const clone = function (this: Response, ...given: unknown[]): unknown {
      void this.body
      return Reflect.apply(found('clone'), this, given)
    }
    override(made, 'clone', clone, true)
  }
  prototypes.set(prototype, made)
  return made
}

function watchOf(response: object): BodyWatch | undefined {
  return Reflect.get(response, key)
}

/** Somebody has asked for all of it: from here on the call ends with the promise that they wait for, whoever still holds the response. */
function readWhole(watch: BodyWatch): void {
  watch.reading = true
  abandoned.unregister(watch)
}

function hookStream(response: object, watch: BodyWatch, body: unknown): void {
  if (watch.hooked || !(body instanceof ReadableStream)) return
  watch.hooked = true
  watchStream(body, watch, response)
}

function hookedReader(method: Reader, find: () => Member): (...given: unknown[]) => unknown {
  return function (this: Response, ...given: unknown[]): unknown {
    const original = find()
    const watch = watchOf(this)
    if (watch === undefined) return Reflect.apply(original, this, given)
    if (original === native?.json) return jsonOfText(this, watch, native.text)
    // Of what is no text the bytes are recorded, and of a stream when they came, as the inner reader reads them.
    if ((method !== 'text' && method !== 'json') || isEventStream(this)) void this.body
    const promise: unknown = Reflect.apply(original, this, given)
    // Also one of another realm, as a test runner's.
    if (!types.isPromise(promise)) return promise
    readWhole(watch)
    return promise.then(
      (value: unknown) => {
        if (method === 'text' && typeof value === 'string') watch.whole(value)
        else if (method === 'json') watch.whole(textOf(value))
        watch.end('done')
        return value
      },
      (error: unknown) => {
        watch.end({ error })
        throw error
      },
    )
  }
}

/** A fake's json() may give what no JSON holds: a BigInt, a circle. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return jsonText(value) ?? ''
  }
}

function isEventStream(response: Response): boolean {
  const headers: unknown = response.headers
  return headers instanceof Headers && headers.get('content-type')?.startsWith('text/event-stream') === true
}

/**
 * What the native json() gives, by way of text(): the body is recorded as it was sent. Written again from its value it would have lost
 * integers beyond 2^53, and it would cost the caller's tick.
 */
async function jsonOfText(response: Response, watch: BodyWatch, nativeText: Response['text']): Promise<unknown> {
  let text: string
  readWhole(watch)
  try {
    text = await nativeText.call(response)
  } catch (error) {
    watch.end({ error })
    throw error
  }
  watch.whole(text)
  watch.end('done')
  return JSON.parse(text)
}
