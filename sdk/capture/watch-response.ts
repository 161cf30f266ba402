// Sees the body of a Response as its reader reads it. The Response is never rebuilt or cloned, no byte passes through our hands: its own readers are hooked
// and the promises that the caller gets are the original ones (but json(), which is its text parsed).

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

const readers = ['json', 'text', 'arrayBuffer', 'blob', 'bytes', 'formData'] as const

/** A response that nobody reads is thrown away by the garbage collector: its watcher is told then. */
const abandoned = new FinalizationRegistry<BodyWatcher>((watcher) => watcher.end('left'))

/** @throws where the Response is not one, or frozen; nothing is hooked then */
export function watchResponse(response: Response, watcher: BodyWatcher): void {
  const body: unknown = response.body
  if (body === null || body === undefined) {
    watcher.end('done')
    return
  }
  if (body instanceof ReadableStream) watchStream(body, new Branches(watcher).first())
  for (const method of readers) watchMethod(response, method, watcher)
  abandoned.register(response, watcher)
}

/** The readers of one stream, or of the branches of its tee: the one that is ahead tells. */
class Branches {
  readonly watcher: BodyWatcher
  seen = 0
  open = 1

  constructor(watcher: BodyWatcher) {
    this.watcher = watcher
  }

  first(): Branch {
    return new Branch(this, 0)
  }
}

class Branch {
  private readonly all: Branches
  private position: number
  private left = false

  constructor(all: Branches, position: number) {
    this.all = all
    this.position = position
  }

  readonly result = (result: ReadResult): void => {
    if (result.done) {
      this.all.watcher.end('done')
      return
    }
    if (this.position === this.all.seen) {
      this.all.seen += 1
      if (result.value instanceof Uint8Array) this.all.watcher.chunk(result.value)
    }
    this.position += 1
  }

  readonly failed = (error: unknown): void => {
    this.all.watcher.end({ error })
  }

  cancelled(): void {
    if (this.left) return
    this.left = true
    this.all.open -= 1
    if (this.all.open <= 0) this.all.watcher.end('left')
  }

  split(): [Branch, Branch] {
    this.left = true
    this.all.open += 1
    return [new Branch(this.all, this.position), new Branch(this.all, this.position)]
  }
}

function watchStream(stream: ReadableStream<unknown>, branch: Branch): void {
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
    watchStream(both[0], one)
    watchStream(both[1], other)
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

function watchMethod(response: Response, method: (typeof readers)[number], watcher: BodyWatcher): void {
  const original: unknown = Reflect.get(response, method)
  if (typeof original !== 'function') return
  if (original === Response.prototype.json && response.text === Response.prototype.text) {
    override(response, method, () => jsonOfText(response, watcher))
    return
  }
  override(response, method, (...given: unknown[]) => {
    const promise: Promise<unknown> = Reflect.apply(original, response, given)
    promise.then(
      (value) => {
        if (method === 'text' && typeof value === 'string') watcher.whole(value)
        else if (method === 'json') watcher.whole(JSON.stringify(value))
        watcher.end('done')
      },
      (error: unknown) => watcher.end({ error }),
    )
    return promise
  })
}

/**
 * What the native json() gives, by way of text(): the body is recorded as it was sent. Written again from its value it would have lost
 * integers beyond 2^53, and it would cost the caller's tick.
 */
async function jsonOfText(response: Response, watcher: BodyWatcher): Promise<unknown> {
  let text: string
  try {
    text = await Response.prototype.text.call(response)
  } catch (error) {
    watcher.end({ error })
    throw error
  }
  watcher.whole(text)
  watcher.end('done')
  return JSON.parse(text)
}

function override(target: object, key: string | symbol, value: (...given: unknown[]) => unknown): void {
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable: false })
}
