// A rollout's own time: begins when the recording began, stands still while code runs, moves by recorded durations and by timers.
//
// Timers: the earliest fires when the rollout waits for nothing else (no call at the seam is open) and a short real time has passed, in
// which reads of files and the like may end. Nobody sleeps for real; a time-out set around a call does not fire while the call is open.

/** The system's own timers, so that a clock made before they are replaced waits by them. */
export interface RealTimers {
  setTimeout(run: () => void, ms: number): { unref?(): void }
  clearTimeout(timer: unknown): void
}

/** As they are when this file is loaded: before a worker replaces the global ones. */
export const systemTimers: RealTimers = systemTimersNow()

function systemTimersNow(): RealTimers {
  const { setTimeout, clearTimeout } = globalThis
  return {
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (timer) => Reflect.apply(clearTimeout, globalThis, [timer]),
  }
}

/** How long, for real, the rollout must be quiet before a timer fires. Shorter timers fire after their own time. */
const quietMs = 20

export interface VirtualTimer {
  readonly id: number
  at: number
  readonly everyMs: number | undefined
  run: () => void
  /** Unreferenced timers fire in turn, but nobody waits for them alone. */
  referenced: boolean
}

export class VirtualClock {
  readonly #real: RealTimers
  readonly #startMs: number
  #nowMs: number
  #open = 0
  #nextId = 1
  readonly #timers = new Map<number, VirtualTimer>()
  #waiting: unknown
  #closed = false

  constructor(startMs: number, real: RealTimers) {
    this.#real = real
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  /** Whole milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.#nowMs)
  }

  /** Milliseconds since the rollout began. */
  elapsedMs(): number {
    return this.#nowMs - this.#startMs
  }

  advance(ms: number): void {
    if (ms > 0) this.#nowMs += ms
  }

  /** While `work` runs the rollout waits for it, and no timer fires. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#open += 1
    this.#rest()
    try {
      return await work()
    } finally {
      this.#open -= 1
      this.#arm()
    }
  }

  set(run: () => void, delayMs: number, options: { repeat?: boolean } = {}): VirtualTimer {
    const ms = Number.isFinite(delayMs) && delayMs >= 1 ? Math.min(delayMs, 2 ** 31 - 1) : 1
    const timer = { id: this.#nextId++, at: this.#nowMs + ms, everyMs: options.repeat === true ? ms : undefined, run, referenced: true }
    this.#timers.set(timer.id, timer)
    this.#arm()
    return timer
  }

  clear(id: number): void {
    this.#timers.delete(id)
  }

  /** Starts a timer's time again. */
  refresh(timer: VirtualTimer, delayMs: number): void {
    timer.at = this.#nowMs + delayMs
    this.#timers.set(timer.id, timer)
    this.#arm()
  }

  /** No timer fires any more. */
  close(): void {
    this.#closed = true
    this.#timers.clear()
    this.#rest()
  }

  #rest(): void {
    this.#real.clearTimeout(this.#waiting)
    this.#waiting = undefined
  }

  #arm(): void {
    if (this.#closed || this.#open > 0 || this.#waiting !== undefined) return
    const next = this.#earliest()
    if (next === undefined) return
    const wait = this.#real.setTimeout(() => this.#fire(), Math.min(quietMs, Math.max(0, next.at - this.#nowMs)))
    if (!next.referenced) wait.unref?.()
    this.#waiting = wait
  }

  #fire(): void {
    this.#waiting = undefined
    if (this.#closed || this.#open > 0) return
    const timer = this.#earliest()
    if (timer === undefined) return
    this.#nowMs = Math.max(this.#nowMs, timer.at)
    if (timer.everyMs === undefined) this.#timers.delete(timer.id)
    else timer.at = this.#nowMs + timer.everyMs
    try {
      timer.run()
    } finally {
      this.#arm()
    }
  }

  /** By time, then in the order in which they were set. */
  #earliest(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined
    for (const timer of this.#timers.values()) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.id < first.id)) first = timer
    }
    return first
  }
}
