// Sees how a call of the product's ends, and gives back exactly what it gave: the same promise, the same generator, the same error.

export interface Outcome {
  /** With the value; for a generator with all that it yielded (text joined). */
  done(value: unknown): void
  failed(error: unknown): void
}

/** `enter` runs a part of the call inside its context: generators run on each `next` of whoever consumes them. */
export function observe<Result>(call: () => Result, outcome: Outcome, enter: <T>(part: () => T) => T): Result {
  let result: Result
  try {
    result = enter(call)
  } catch (error) {
    outcome.failed(error)
    throw error
  }
  if (isPromise(result)) {
    result.then(
      (value: unknown) => {
        if (isGenerator(value)) observeGenerator(value, outcome, enter)
        else outcome.done(value)
      },
      (error: unknown) => outcome.failed(error),
    )
  } else if (isGenerator(result)) observeGenerator(result, outcome, enter)
  else outcome.done(result)
  return result
}

/** What the product gives may be a proxy whose traps throw: then it is neither. */
function isPromise(value: unknown): value is Promise<unknown> {
  try {
    return value instanceof Promise
  } catch {
    return false
  }
}

function isGenerator(value: unknown): value is AsyncGenerator {
  try {
    return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value && 'throw' in value
  } catch {
    return false
  }
}

const keptItems = 10_000

function observeGenerator(generator: AsyncGenerator, outcome: Outcome, enter: <T>(part: () => T) => T): void {
  const items: unknown[] = []
  let ended = false
  const end = (work: () => void): void => {
    if (!ended) work()
    ended = true
  }
  const finish = (value: unknown): void =>
    end(() => outcome.done(value ?? (items.every((item) => typeof item === 'string') ? items.join('') : items)))
  for (const key of ['next', 'return', 'throw'] as const) {
    const original: unknown = generator[key]
    if (typeof original !== 'function') continue
    const value = (...given: unknown[]): Promise<IteratorResult<unknown>> => {
      const promise: Promise<IteratorResult<unknown>> = enter(() => Reflect.apply(original, generator, given))
      promise.then(
        (step) => {
          if (step.done === true) finish(key === 'return' ? undefined : step.value)
          else if (items.length < keptItems) items.push(step.value)
        },
        (error: unknown) => end(() => outcome.failed(error)),
      )
      return promise
    }
    Object.defineProperty(generator, key, { value, configurable: true, writable: true, enumerable: false })
  }
}
