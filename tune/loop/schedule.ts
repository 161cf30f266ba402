// A loop on a schedule: it is run again after so long for as long as all that it lacks is something new. What else ends it ends the schedule.
import { setTimeout as systemSleep } from 'node:timers/promises'
import type { LoopResult } from './loop.ts'

export interface ScheduleOptions {
  /** From the end of one run to the begin of the next. */
  everyMs: number
  signal: AbortSignal
  /** After each run. */
  onResult(result: LoopResult): void
  /** Resolves after so long, or rejects when `signal` is aborted. */
  sleep?(delayMs: number, signal: AbortSignal): Promise<void>
}

/** Resolves with the last result: nothing improves any more, all iterations are done, or `signal` was aborted while it waited. @throws what `run` throws */
export async function runOnSchedule(run: () => Promise<LoopResult>, options: ScheduleOptions): Promise<LoopResult> {
  const sleep = options.sleep ?? ((delayMs, signal) => systemSleep(delayMs, undefined, { signal }))
  for (;;) {
    const result = await run()
    options.onResult(result)
    if (result.end !== 'no-new-episodes') return result
    await sleep(options.everyMs, options.signal).catch(() => {})
    if (options.signal.aborted) return result
  }
}
