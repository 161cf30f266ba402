// A promise that may be lazy: one of a subclass, or any object with a `then`. It is seen to settle by the product's own callbacks.
import { AsyncLocalStorage } from 'node:async_hooks'
import { follower, isSettling } from './settling-promise.ts'
import { type Hook, type Method, methodOf, type Watch } from './watch.ts'

/** Runs work where the product called the promise's method. */
type Outside = <T>(work: () => T) => T

/** None where the value is no promise. */
export function promiseHooks(value: object, watch: Watch): Hook[] {
  const then = methodOf(value, 'then')
  if (then === undefined) return []
  const hooks: Hook[] = [['then', thenHook(then, watch)]]
  const state = { busy: false }
  for (const [key, settled] of Object.entries(others)) {
    const original = methodOf(value, key)
    if (original !== undefined) hooks.push([key, otherHook(key, original, watch, settled, state)])
  }
  return hooks
}

/** Methods that some promises have beside `then`; each makes the promise that it gives. */
const others: Record<string, (watch: Watch, value: unknown) => void> = {
  catch: (watch, value) => watch.settled(value),
  finally: (watch, value) => watch.settled(value),
  // The vendors' promises: a response that the product reads by itself is not ours to read.
  asResponse: (watch) => watch.left(),
  withResponse: (watch, both) => watch.settled(typeof both === 'object' && both !== null ? Reflect.get(both, 'data') : undefined),
}

function thenHook(original: Method, watch: Watch): Method {
  return function then(this: unknown, ...[fulfilled, rejected, ...rest]: unknown[]): unknown {
    const outside: Outside = AsyncLocalStorage.snapshot()
    const seen = (...values: unknown[]): unknown => {
      watch.settled(values[0])
      return typeof fulfilled === 'function' ? outside(() => Reflect.apply(fulfilled, undefined, values)) : values[0]
    }
    return watch.run(() => Reflect.apply(original, this, [seen, rejection(rejected, watch, outside), ...rest]))
  }
}

function otherHook(
  key: string,
  original: Method,
  watch: Watch,
  settled: (watch: Watch, value: unknown) => void,
  state: { busy: boolean },
): Method {
  return function (this: unknown, ...given: unknown[]): unknown {
    // withResponse() asks asResponse().
    if (state.busy) return Reflect.apply(original, this, given)
    const outside: Outside = AsyncLocalStorage.snapshot()
    const seen = given.map((each, index) => {
      if (typeof each !== 'function') return each
      // Some libraries take classes of errors before the handler.
      if (key === 'catch') return index === given.length - 1 ? rejection(each, watch, outside) : each
      return (...values: unknown[]) => outside(() => Reflect.apply(each, undefined, values))
    })
    state.busy = true
    let result: unknown
    try {
      result = watch.run(() => Reflect.apply(original, this, seen))
    } finally {
      state.busy = false
    }
    if (watch.over || !isSettling(result)) return result
    const follow = follower(
      true,
      (value) => settled(watch, value),
      (error) => watch.failed(error),
    )
    return follow(result)
  }
}

function rejection(handler: unknown, watch: Watch, outside: Outside): Method {
  return (...errors) => {
    watch.failed(errors[0])
    if (typeof handler === 'function') return outside(() => Reflect.apply(handler, undefined, errors))
    throw errors[0]
  }
}
