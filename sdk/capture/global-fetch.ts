// The fetch of the process at each moment, underneath what of ours stands in its place.
import { currentFrame, runStorage } from '../run/context.ts'
import { type Fetch, unrecorded } from './recording-fetch.ts'

/**
 * Calls the global fetch, read on each call: a test or an instrumentation may have set it since. Where the product has put there what we give it for that, or a
 * function that calls it, it is the one that was there before: each would call the other for ever.
 */
export function globalFetch(): Fetch {
  const before = unrecorded(globalThis.fetch)
  /** Fetches that were seen to call this one. */
  const callers = new WeakSet<Fetch>()
  const live: Fetch = (...given) => {
    const now = unrecorded(globalThis.fetch)
    const frame = currentFrame()
    if (frame?.asking?.by === live) callers.add(frame.asking.fetch)
    if (now === before || now === live || callers.has(now)) return Reflect.apply(before, undefined, given)
    const asking = { by: live, fetch: now }
    return runStorage.run({ ...(frame ?? { agents: [] }), asking }, () => Reflect.apply(now, undefined, given))
  }
  return live
}
