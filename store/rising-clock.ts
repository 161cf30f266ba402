// The clock that rows get their version from: what is received later wins.

/** Microseconds since the epoch, larger each time: also within a millisecond, and while a clock that was set back catches up. `nowMs`: milliseconds since the epoch. */
export function risingClock(nowMs: () => number): () => bigint {
  let last = 0n
  return () => {
    const at = BigInt(nowMs()) * 1000n
    last = at > last ? at : last + 1n
    return last
  }
}
