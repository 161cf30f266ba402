// Wall-clock time with the steps of a monotonic clock: durations never jump, and two calls within one millisecond keep their order.

/** Milliseconds since the epoch, with fractions. */
export type Clock = () => number

/** Follows the system's time again when that was set, or the machine slept. */
export function systemClock(): Clock {
  let offset = Date.now() - performance.now()
  return () => {
    const steady = performance.now()
    const wall = Date.now()
    if (Math.abs(wall - steady - offset) > 50) offset = wall - steady
    return offset + steady
  }
}
