// Runs the product inside a replay, and says whether the product's copy of the SDK will notice.
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers'
import { type Replay, runStorage } from './context.ts'

/**
 * Runs `fn` (the product's agent) with `replay.seam` answering its model calls, tools, reads and variants, in all asynchronous work that
 * starts in it. Every span goes to `replay.state.record`, none to the product's exporter; the last ones of a run are recorded before
 * the promise resolves. Rejects as `fn` does. When `replay.signal` is aborted, further calls of the product reject with its reason.
 */
export async function withSeam<T>(replay: Replay, fn: () => Promise<T>): Promise<T> {
  const frame = { traceId: replay.state.traceId ?? randomBytes(16).toString('hex'), agents: [], run: {}, replay }
  try {
    return await runStorage.run(frame, fn)
  } finally {
    // The product has its answers a moment before their spans have ended (a stream's last read, a cancel on its way).
    await new Promise((resolve) => setImmediate(resolve))
    for (const instance of runStorage.instances) instance.drain()
  }
}

/**
 * True when a copy of the SDK with a switched-on `homeground()` is loaded and shares this seam. Ask after the product's module is loaded and
 * before its first rollout: without an answer its tools would run live (error `seam-not-found`).
 */
export function seamHandshake(): boolean {
  return runStorage.instances.size > 0
}
