// How long an endpoint asks to be left alone.

/** The longest single wait. */
const longestWaitMs = 60_000

/** Milliseconds, at most `longestWaitMs`; absent where the endpoint does not say. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (ms >= 0) return Math.min(ms, longestWaitMs)
  const after = headers.get('retry-after')
  if (after === null) return undefined
  const seconds = Number(after)
  const wait = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1_000
  return wait >= 0 ? Math.min(wait, longestWaitMs) : undefined
}

/** Tries that may be as close together as the endpoint says. */
const trustedTries = 4

/** The wait before the next try. An endpoint that says `Retry-After: 0` is believed a few times, then asked once a second: its limit would never end. */
export function waitMs(attempt: number, said: number | undefined, backOffMs: number): number {
  if (said === undefined) return Math.min(longestWaitMs, backOffMs)
  return attempt > trustedTries ? Math.max(said, 1_000) : said
}
