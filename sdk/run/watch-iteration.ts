// What the product iterates: a generator, an iterator, a stream of a vendor's package. Each step runs in the call's context, and what it yields is kept.
import { types } from 'node:util'
import type { Outcome } from './outcome.ts'
import { follower, isSettling } from './settling-promise.ts'
import { type Hook, hook, type Method, methodOf, type Watch } from './watch.ts'
import { Yielded } from './yielded.ts'

/** An iterator steps itself; an iterable makes iterators, by the method of that name. Undefined for what the product may use in other ways too. */
export function iterationOf(value: object): 'iterator' | { by: string | symbol } | undefined {
  const has = (key: string | symbol): boolean => methodOf(value, key) !== undefined
  const isAsync = has(Symbol.asyncIterator)
  const isIterator = has('next') && (isAsync || has(Symbol.iterator))
  if (!(isAsync || isIterator) || has('on') || has('pipe') || has('getReader')) return undefined
  if (isIterator) return 'iterator'
  // The vendors' streams make all their iterators by this one, those of `tee()` too.
  return { by: has('iterator') && has('tee') ? 'iterator' : Symbol.asyncIterator }
}

/** None where the value is not there to be iterated. */
export function iterationHooks(value: object, watch: Watch): Hook[] {
  const iteration = iterationOf(value)
  if (iteration === undefined) return []
  if (iteration === 'iterator') return stepHooks(value, watch)
  const original = methodOf(value, iteration.by)
  return original === undefined ? [] : [[iteration.by, iteratorHook(original, watch)]]
}

/** An iterator keeps what made it: the end of that would be taken for the end of its use. */
const makers = new WeakMap<object, unknown>()

function iteratorHook(original: Method, watch: Watch): Method {
  return function iterate(this: unknown, ...given: unknown[]): unknown {
    const iterator = watch.run(() => Reflect.apply(original, this, given))
    if (typeof iterator !== 'object' || iterator === null) watch.failed(new TypeError('no iterator'))
    else if (!makers.has(iterator)) {
      makers.set(iterator, this)
      if (!canHook(iterator, watch)) watch.left()
    }
    return iterator
  }
}

function canHook(iterator: object, watch: Watch): boolean {
  try {
    return !types.isProxy(iterator) && methodOf(iterator, 'next') !== undefined && hook(iterator, stepHooks(iterator, watch))
  } catch {
    return false
  }
}

/** `next` first: without it nothing is seen. */
function stepHooks(iterator: object, watch: Watch): Hook[] {
  const steps = new Steps(watch)
  return (['next', 'return', 'throw'] as const).flatMap((key): Hook[] => {
    const original = methodOf(iterator, key)
    return original === undefined ? [] : [[key, stepHook(key, original, steps)]]
  })
}

const asyncGenerator: object = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})()))

function stepHook(key: 'next' | 'return' | 'throw', original: Method, steps: Steps): Method {
  const fresh = types.isAsyncFunction(original) || original === Reflect.get(asyncGenerator, key)
  const seen = (step: unknown): void => steps.seen(step, key)
  const failed = (error: unknown): void => steps.watch.failed(error)
  const outcome: Outcome = { enter: (part) => part(), done: seen, failed, handed: () => undefined, left: () => undefined }
  const follow = follower(fresh, seen, failed)
  return function (this: unknown, ...given: unknown[]): unknown {
    const step = steps.watch.run(() => Reflect.apply(original, this, given))
    if (isSettling(step)) return follow(step)
    if (isThenable(step)) steps.watch.watchUse(step, outcome)
    else seen(step)
    return step
  }
}

/** The steps of one iterator. */
class Steps {
  readonly watch: Watch
  private yielded = new Yielded()
  private readonly soFar = (): unknown => this.yielded.value()

  constructor(watch: Watch) {
    this.watch = watch
  }

  seen(step: unknown, key: 'next' | 'return' | 'throw'): void {
    try {
      this.read(step, key)
    } catch (error) {
      // As the product's loop fails.
      this.watch.failed(error)
    }
  }

  private read(step: unknown, key: 'next' | 'return' | 'throw'): void {
    if (typeof step !== 'object' || step === null) throw new TypeError('no step of an iterator')
    const { done, value }: { done?: unknown; value?: unknown } = step
    if (done) {
      this.watch.done((key === 'return' ? undefined : value) ?? this.yielded.value())
      this.yielded = new Yielded()
    } else {
      this.yielded.add(value)
      this.watch.used(this.soFar)
    }
  }
}

function isThenable(step: unknown): boolean {
  try {
    return typeof step === 'object' && step !== null && methodOf(step, 'then') !== undefined
  } catch {
    return false
  }
}
