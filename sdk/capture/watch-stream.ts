// Sees the chunks of a stream as its readers read them. No byte passes through our hands: the stream's own readers are hooked, and what they give comes through
// us, so that an error which the caller forgets is still one that nobody handles. Streams and readers get a prototype between themselves and their own, made
// once: hooking each member of each of them costs more than all that is then done with a chunk.
import { nodeStream } from '../run/late-modules.ts'
import { keepsStream, mayRelay, relay } from './relay-stream.ts'

/** Told what the caller has read. Calls after the first `end` are nothing. */
export interface BodyWatcher {
  /** The bytes are the caller's: copy them before returning. */
  chunk(bytes: Uint8Array): void
  /** The whole body at once, where it could not be seen in chunks. */
  whole(text: string): void
  /** `left`: the caller does not want the rest. */
  end(how: 'done' | 'left' | { error: unknown }): void
}

type ReadResult = { done: boolean; value?: unknown }

interface BodyIterator {
  next(): Promise<ReadResult>
  return?(value?: unknown): Promise<ReadResult>
}

/**
 * Stands between the hooks and the watcher, and lets go of it at its end: a Response outlives its call until the next full garbage collection, and must not keep
 * the call's bodies with it. Counts the branches of a tee: the one that is ahead tells.
 */
export class BodyWatch implements BodyWatcher {
  /** Chunks that the foremost branch has given. */
  seen = 0
  open = 1
  /** Whether it is being read as a whole, which ends by itself. */
  reading = false
  /** Whether the stream is hooked. */
  hooked = false
  private watcher: BodyWatcher | undefined

  constructor(watcher: BodyWatcher) {
    this.watcher = watcher
  }

  chunk(bytes: Uint8Array): void {
    this.watcher?.chunk(bytes)
  }

  whole(text: string): void {
    this.watcher?.whole(text)
  }

  end(how: 'done' | 'left' | { error: unknown }): void {
    const { watcher } = this
    this.watcher = undefined
    watcher?.end(how)
  }
}

/** Of a stream or a reader: which branch it is. */
const branchKey = Symbol('homeground.branch')
interface Watched {
  readonly [branchKey]?: Branch
}
type WatchedStream = ReadableStream<unknown> & Watched

/** Made prototypes, by the one that they hide. */
const streamPrototypes = new WeakMap<object, object>()
const readerPrototypes = new WeakMap<object, object>()

/** Hooks the readers of a stream, which keep its response: that is given up when nothing reads any more. @throws where it is frozen */
export function watchStream(stream: ReadableStream<unknown>, watch: BodyWatch, response: object): void {
  hook(stream, new Branch(watch, 0, response, stream), streamPrototypes, streamHooks)
}

class Branch {
  private readonly all: BodyWatch
  private position: number
  private left = false
  /** As long as somebody can read, the garbage collector must not tell that nobody does. */
  private readonly response: object
  private readonly stream: ReadableStream<unknown>

  constructor(all: BodyWatch, position: number, response: object, stream: ReadableStream<unknown>) {
    this.response = response
    this.stream = stream
    this.all = all
    this.position = position
  }

  readonly result = (result: ReadResult): ReadResult => {
    if (result.done) {
      this.all.end('done')
      return result
    }
    if (this.position === this.all.seen) {
      this.all.seen += 1
      if (result.value instanceof Uint8Array) this.all.chunk(result.value)
      else if (ArrayBuffer.isView(result.value)) this.all.chunk(bytesOf(result.value))
    }
    this.position += 1
    return result
  }

  readonly failed = (error: unknown): never => {
    // A reader that was let go of fails its reads; the stream goes on, and another reader may.
    if (Reflect.apply(nodeStream().isErrored, undefined, [this.stream])) this.all.end({ error })
    throw error
  }

  cancelled(): void {
    if (this.left) return
    this.left = true
    this.all.open -= 1
    if (this.all.open <= 0) this.all.end('left')
  }

  /** Each of a tee's streams is a branch of its own. */
  split(streams: readonly ReadableStream<unknown>[]): void {
    this.left = true
    this.all.open += 1
    for (const stream of streams) hook(stream, new Branch(this.all, this.position, this.response, stream), streamPrototypes, streamHooks)
  }
}

/** As it is found on a host's object; what it gives is what the standard says. */
export type Member = (...given: unknown[]) => never
type Hook = (original: Member) => (...given: unknown[]) => unknown
type Hooks = readonly (readonly [key: string | symbol, hooked: Hook])[]

/** Puts hooks before the members of `target`'s prototype, and in the place of its own ones (a fake's). */
function hook(target: object, branch: Branch, made: WeakMap<object, object>, hooks: Hooks): void {
  const prototype: object = Object.getPrototypeOf(target) ?? Object.prototype
  Object.setPrototypeOf(target, made.get(prototype) ?? hookedPrototype(prototype, made, hooks))
  Object.defineProperty(target, branchKey, { value: branch })
  for (const [key, hooked] of hooks) {
    if (Object.hasOwn(target, key)) override(target, key, hooked(Reflect.get(target, key)))
  }
}

function hookedPrototype(prototype: object, made: WeakMap<object, object>, hooks: Hooks): object {
  const created: object = Object.create(prototype)
  for (const [key, hooked] of hooks) {
    const original: unknown = Reflect.get(prototype, key)
    if (isMember(original)) override(created, key, hooked(original))
  }
  made.set(prototype, created)
  return created
}

export function isMember(value: unknown): value is Member {
  return typeof value === 'function'
}

const readerHooks: Hooks = [
  [
    'read',
    (read) =>
      function (this: Watched, ...views: unknown[]) {
        const promise: Promise<ReadResult> = Reflect.apply(read, this, views)
        const branch = this[branchKey]
        return branch === undefined ? promise : promise.then(branch.result, branch.failed)
      },
  ],
  [
    'cancel',
    (cancel) =>
      function (this: Watched, ...reason: unknown[]) {
        this[branchKey]?.cancelled()
        return Reflect.apply(cancel, this, reason)
      },
  ],
]

const hookedValues: Hook = (iterate) =>
  function (this: Watched, ...options: unknown[]) {
    const iterator = Reflect.apply(iterate, this, options)
    const branch = this[branchKey]
    if (branch !== undefined) watchIterator(iterator, branch, keepsStream(options[0]))
    return iterator
  }

const streamHooks: Hooks = [
  [
    'getReader',
    (getReader) =>
      function (this: Watched, ...options: unknown[]) {
        const reader: object = Reflect.apply(getReader, this, options)
        const branch = this[branchKey]
        if (branch !== undefined) hook(reader, branch, readerPrototypes, readerHooks)
        return reader
      },
  ],
  ['values', hookedValues],
  [Symbol.asyncIterator, hookedValues],
  [
    'cancel',
    (cancel) =>
      function (this: WatchedStream, ...reason: unknown[]) {
        if (!this.locked) this[branchKey]?.cancelled()
        return Reflect.apply(cancel, this, reason)
      },
  ],
  [
    'tee',
    (tee) =>
      function (this: Watched) {
        const both: [ReadableStream<unknown>, ReadableStream<unknown>] = Reflect.apply(tee, this, [])
        this[branchKey]?.split(both)
        return both
      },
  ],
  // The native pipes read by an inner reader that cannot be hooked: they get a stream that reads by a hooked one.
  ['pipeThrough', hookedPipe],
  ['pipeTo', hookedPipe],
]

function hookedPipe(pipe: Member): (...given: unknown[]) => unknown {
  return function (this: ReadableStream<unknown>, ...given: unknown[]) {
    return Reflect.apply(pipe, mayRelay(this, given) ? relay(this) : this, given)
  }
}

function watchIterator(iterator: BodyIterator, branch: Branch, keeps: boolean): void {
  const { next, return: leave } = iterator
  override(iterator, 'next', () => {
    const promise: Promise<ReadResult> = Reflect.apply(next, iterator, [])
    return promise.then(branch.result, branch.failed)
  })
  override(iterator, 'return', (...value: unknown[]) => {
    if (!keeps) branch.cancelled()
    return Reflect.apply(leave ?? (() => Promise.resolve({ done: true, value: value[0] })), iterator, value)
  })
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** A member of the object's own that looks like the one that it hides. */
export function override(target: object, key: string | symbol, value: unknown, enumerable = false): void {
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable })
}
