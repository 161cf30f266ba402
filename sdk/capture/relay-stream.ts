// Stands between a stream and a native pipe, whose inner reader cannot be hooked.

/** Whether a pipe of `stream`, with these arguments, may read a relay of it in its place. */
export function mayRelay(stream: ReadableStream<unknown>, [to, options]: readonly unknown[]): boolean {
  if (!takesPipe(to)) return false
  // With `preventCancel` the source must stay readable afterwards: then it is not watched. A locked one throws as it always did.
  return !stream.locked && !keepsStream(options)
}

/** Options by which the stream stays readable after the end of what reads it. */
export function keepsStream(options: unknown): boolean {
  return typeof options === 'object' && options !== null && Boolean(Reflect.get(options, 'preventCancel'))
}

/** Anything else is refused by the native pipe, which leaves the stream as it was. */
function takesPipe(to: unknown): boolean {
  if (to instanceof WritableStream) return !to.locked
  if (typeof to !== 'object' || to === null) return false
  const writable: unknown = Reflect.get(to, 'writable')
  return writable instanceof WritableStream && !writable.locked && Reflect.get(to, 'readable') instanceof ReadableStream
}

/** A stream that gives what `stream` gives, and reads it by its own reader. */
export function relay(stream: ReadableStream<unknown>): ReadableStream<unknown> {
  const reader = stream.getReader()
  return new ReadableStream<unknown>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        // As a native pipe does at its end.
        reader.releaseLock()
      },
      cancel: (reason) => reader.cancel(reason).finally(() => reader.releaseLock()),
    },
    { highWaterMark: 0 },
  )
}
