// Sees the body of a Response as its reader reads it. The Response is never rebuilt or cloned: it gets a prototype between itself and its own whose readers are
// hooked, which costs one step whatever the caller does then. The promises that the caller gets are the original ones (but json(), which is its text parsed).
import { BodyWatch, type BodyWatcher, override, watchStream } from './watch-stream.ts'

const readers = ['json', 'text', 'arrayBuffer', 'blob', 'bytes', 'formData'] as const
type Reader = (typeof readers)[number]

/** Of a Response: who watches it, and whether its stream is hooked. */
const key = Symbol('homeground.watch')
/** By the prototype that they hide. */
const prototypes = new WeakMap<object, object>()

/** A response that nobody reads is thrown away by the garbage collector: its watcher is told then. */
const abandoned = new FinalizationRegistry<BodyWatch>((watch) => watch.end('left'))

/**
 * Hooks no more than what the caller may use at once; `watchBody` does the rest when the caller has its response.
 * @throws where the Response is not one, or frozen; nothing is hooked then
 */
export function watchResponse(response: Response, watcher: BodyWatcher): void {
  const watch = new BodyWatch(watcher)
  const prototype: object = Object.getPrototypeOf(response) ?? Object.prototype
  Object.setPrototypeOf(response, hookedPrototype(prototype))
  Object.defineProperty(response, key, { value: watch })
  // A fake's own members hide the prototype's.
  for (const method of readers) {
    if (Object.hasOwn(response, method)) override(response, method, hookedReader(method, Reflect.get(response, method)))
  }
  if (Object.hasOwn(response, 'body')) hookStream(response, watch, response.body)
}

/** `stream`: each chunk is to be seen, however the body is read. A response without a body has ended. */
export function watchBody(response: Response, options: { stream: boolean }): void {
  const watch = watchOf(response)
  if (watch === undefined) return
  // Not by the hooked getter: a body that is read as a whole need not be seen in chunks.
  const body: unknown = Reflect.get(Object.getPrototypeOf(Object.getPrototypeOf(response)), 'body', response) ?? response.body
  if (body === null || body === undefined) watch.end('done')
  else if (options.stream) hookStream(response, watch, body)
  if (!watch.reading) abandoned.register(response, watch, watch)
}

function hookedPrototype(prototype: object): object {
  const known = prototypes.get(prototype)
  if (known !== undefined) return known
  const made: object = Object.create(prototype)
  for (const method of readers) {
    if (typeof Reflect.get(prototype, method) === 'function') override(made, method, hookedReader(method, Reflect.get(prototype, method)))
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
  const clone: unknown = Reflect.get(prototype, 'clone')
  // It tees the stream that the Response holds: that must be hooked before.
  if (typeof clone === 'function')
    override(made, 'clone', function hookedClone(this: Response, ...given: unknown[]): unknown {
      void this.body
      return Reflect.apply(clone, this, given)
    })
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

function hookedReader(method: Reader, original: (...given: unknown[]) => Promise<unknown>): unknown {
  if (method === 'json' && original === Response.prototype.json) {
    return function json(this: Response): Promise<unknown> {
      const watch = watchOf(this)
      return watch === undefined ? Reflect.apply(original, this, []) : jsonOfText(this, watch)
    }
  }
  return function read(this: Response, ...given: unknown[]): Promise<unknown> {
    const watch = watchOf(this)
    // Of what is no text the bytes are recorded, and of a stream when they came, as the inner reader reads them.
    if (watch !== undefined && ((method !== 'text' && method !== 'json') || isEventStream(this))) void this.body
    const promise = Reflect.apply(original, this, given)
    if (watch === undefined) return promise
    readWhole(watch)
    promise.then(
      (value) => {
        if (method === 'text' && typeof value === 'string') watch.whole(value)
        else if (method === 'json') watch.whole(JSON.stringify(value))
        watch.end('done')
      },
      (error: unknown) => watch.end({ error }),
    )
    return promise
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
async function jsonOfText(response: Response, watch: BodyWatch): Promise<unknown> {
  let text: string
  readWhole(watch)
  try {
    text = await Response.prototype.text.call(response)
  } catch (error) {
    watch.end({ error })
    throw error
  }
  watch.whole(text)
  watch.end('done')
  return JSON.parse(text)
}
