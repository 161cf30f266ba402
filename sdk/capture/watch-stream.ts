// Sees the chunks of a stream as its readers read them. No byte passes through our hands: the stream's own readers are hooked, and the promises that they give
// are the original ones.

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

/** Hooks the readers of a stream. @throws where it is frozen */
export function watchStream(stream: ReadableStream<unknown>, watch: BodyWatch): void {
  watchBranch(stream, new Branch(watch, 0))
}

class Branch {
  private readonly all: BodyWatch
  private position: number
  private left = false

  constructor(all: BodyWatch, position: number) {
    this.all = all
    this.position = position
  }

  readonly result = (result: ReadResult): void => {
    if (result.done) {
      this.all.end('done')
      return
    }
    if (this.position === this.all.seen) {
      this.all.seen += 1
      if (result.value instanceof Uint8Array) this.all.chunk(result.value)
    }
    this.position += 1
  }

  readonly failed = (error: unknown): void => {
    this.all.end({ error })
  }

  cancelled(): void {
    if (this.left) return
    this.left = true
    this.all.open -= 1
    if (this.all.open <= 0) this.all.end('left')
  }

  split(): [Branch, Branch] {
    this.left = true
    this.all.open += 1
    return [new Branch(this.all, this.position), new Branch(this.all, this.position)]
  }
}

function watchBranch(stream: ReadableStream<unknown>, branch: Branch): void {
  const { getReader, tee, cancel, pipeThrough, pipeTo } = stream
  const iterate = stream.values
  override(stream, 'getReader', (...options: unknown[]) => {
    const reader: ReadableStreamDefaultReader<unknown> = Reflect.apply(getReader, stream, options)
    const { read, cancel: cancelReader } = reader
    override(reader, 'read', (...views: unknown[]) => {
      const promise: Promise<ReadResult> = Reflect.apply(read, reader, views)
      promise.then(branch.result, branch.failed)
      return promise
    })
    override(reader, 'cancel', (...reason: unknown[]) => {
      branch.cancelled()
      return Reflect.apply(cancelReader, reader, reason)
    })
    return reader
  })
  const values = (...options: unknown[]): unknown => {
    const iterator: BodyIterator = Reflect.apply(iterate, stream, options)
    const { next, return: leave } = iterator
    override(iterator, 'next', () => {
      const promise: Promise<ReadResult> = Reflect.apply(next, iterator, [])
      promise.then(branch.result, branch.failed)
      return promise
    })
    override(iterator, 'return', (...value: unknown[]) => {
      branch.cancelled()
      return Reflect.apply(leave ?? (() => Promise.resolve({ done: true, value: value[0] })), iterator, value)
    })
    return iterator
  }
  override(stream, 'values', values)
  override(stream, Symbol.asyncIterator, values)
  override(stream, 'cancel', (...reason: unknown[]) => {
    if (!stream.locked) branch.cancelled()
    return Reflect.apply(cancel, stream, reason)
  })
  override(stream, 'tee', () => {
    const both: [ReadableStream<unknown>, ReadableStream<unknown>] = Reflect.apply(tee, stream, [])
    const [one, other] = branch.split()
    watchBranch(both[0], one)
    watchBranch(both[1], other)
    return both
  })
  // The native pipes read by an inner reader that cannot be hooked: they get a stream that reads by a hooked one.
  override(stream, 'pipeThrough', (...given: unknown[]) =>
    Reflect.apply(pipeThrough, mayRelay(stream, given[1]) ? relay(stream) : stream, given),
  )
  override(stream, 'pipeTo', (...given: unknown[]) => Reflect.apply(pipeTo, mayRelay(stream, given[1]) ? relay(stream) : stream, given))
}

function mayRelay(stream: ReadableStream<unknown>, options: unknown): boolean {
  // With `preventCancel` the source must stay readable afterwards: then it is not watched. A locked one throws as it always did.
  return !stream.locked && !(typeof options === 'object' && options !== null && Reflect.get(options, 'preventCancel') === true)
}

function relay(stream: ReadableStream<unknown>): ReadableStream<unknown> {
  const reader = stream.getReader()
  return new ReadableStream<unknown>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** A member of the object's own that looks like the one that it hides. */
export function override(target: object, key: string | symbol, value: unknown): void {
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable: false })
}
