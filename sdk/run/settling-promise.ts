// Follows a promise that settles by itself.
import { types } from 'node:util'

// Whatever has become of the global: `await` goes by this one.
const nativePromise = (async () => undefined)().constructor
const nativeThen = Promise.prototype.then

/** A promise that settles whether or not somebody waits for it. `await` asks it for no `then`: one of our own would not be called. */
export function isSettling<Value>(value: Value): value is Value & Promise<unknown> {
  try {
    return types.isPromise(value) && value.constructor === nativePromise
  } catch {
    return false
  }
}

/** Gives the promise that the product gets for this one. */
export type Follow = <Given extends Promise<unknown>>(promise: Given) => Given

/**
 * Sees promises settle; `settled` and `failed` must not throw. One that somebody else may hold stays that very object. `fresh` ones, of async functions, have
 * ours in their place: a second handler would hide an error that nobody handles from the process, and the callers from the error's stack, which V8 finds
 * through a promise's only handler.
 */
export function follower(fresh: boolean, settled: (value: unknown) => void, failed: (error: unknown) => void): Follow {
  if (!fresh) {
    return (promise) => {
      Reflect.apply(nativeThen, promise, [settled, failed])
      return promise
    }
  }
  // A promise of the same class, to the same value.
  const handlers = [
    (value: unknown) => {
      settled(value)
      return value
    },
    (error: unknown) => {
      failed(error)
      throw error
    },
  ]
  return (promise) => Reflect.apply(nativeThen, promise, handlers) as typeof promise
}
