// Sees what comes of a value that the product has yet to use: a lazy promise, an iterator, a stream. Methods of the value's own stand before those of its class;
// nothing is used before the product uses it, and where they cannot stand the call has ended with what is known.
import { types } from 'node:util'
import type { Outcome } from './outcome.ts'
import { type Hook, hook, leaveWhenDropped, Watch } from './watch.ts'
import { iterationHooks } from './watch-iteration.ts'
import { promiseHooks } from './watch-promise.ts'

const watches = new WeakMap<object, Watch>()

/** Ends `outcome` now for a plain value, else with the product's use of it. Never throws. */
export function watchUse(value: unknown, outcome: Outcome): void {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    outcome.done(value)
    return
  }
  const before = watches.get(value)
  if (before !== undefined) {
    before.add(outcome)
    return
  }
  const watch = new Watch(outcome, watchUse)
  const hooks = hooksFor(value, watch)
  if (hooks.length === 0) outcome.done(value)
  else if (!hook(value, hooks)) outcome.left()
  else {
    watches.set(value, watch)
    leaveWhenDropped(value, watch)
    watch.add(outcome)
  }
}

/** None for a plain value. A proxy counts as one: its traps are the product's own code. */
function hooksFor(value: object, watch: Watch): Hook[] {
  try {
    return types.isProxy(value) ? [] : [...promiseHooks(value, watch), ...iterationHooks(value, watch)]
  } catch {
    return []
  }
}
