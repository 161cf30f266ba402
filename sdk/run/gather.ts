// All that is iterated, for a model that wants one answer.
import { iterationOf } from './watch-iteration.ts'

/** What a generator, an iterator or a stream comes to: what it returns, or all that it yields (text joined). Anything else as it is. Throws as it does. */
export async function gather(value: unknown): Promise<unknown> {
  const iterator = iteratorOf(value)
  if (iterator === undefined) return value
  const items: unknown[] = []
  for (;;) {
    const step = await iterator.next()
    if (step.done === true) return step.value ?? (items.every((item) => typeof item === 'string') ? items.join('') : items)
    items.push(await step.value)
  }
}

function iteratorOf(value: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  if (typeof value !== 'object' || value === null || !isIterated(value)) return undefined
  if (isAsyncIterable(value)) return value[Symbol.asyncIterator]()
  return isIterable(value) ? value[Symbol.iterator]() : undefined
}

function isIterated(value: object): boolean {
  try {
    return iterationOf(value) !== undefined
  } catch {
    return false
  }
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value
}
