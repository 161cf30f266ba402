// What all rollouts of an arm share on the way to its endpoint, in every thread: how many requests are under way at once, and the pause that the endpoint asked for. In shared memory, so that the
// product's worker threads keep the same limit as this one.
/// <reference lib="es2024.sharedmemory" />
import { threadId } from 'node:worker_threads'

/** Two 64-bit numbers, then 32-bit ones: a bell that is rung when a place is free, and the places. */
const head = 2
const bell = head * 2
const firstPlace = bell + 1
/** Who waits looks again after so long, bell or no bell. */
const lookAgainMs = 1_000

export interface GateDeps {
  /** Milliseconds since the epoch. */
  now(): number
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** In [0, 1): those who waited do not all come back at once. */
  random(): number
}

export class ArmGate {
  /** Plain shared memory: what is handed to another thread. */
  readonly memory: SharedArrayBuffer
  readonly #times: BigInt64Array
  readonly #numbers: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#times = new BigInt64Array(memory, 0, head)
    this.#numbers = new Int32Array(memory)
  }

  /** `requests`: how many may be under way at once. @default no limit */
  static create(requests = 0): ArmGate {
    return new ArmGate(new SharedArrayBuffer((firstPlace + requests) * 4))
  }

  /** Resolves when the pause is over and a place is free; call what it gives when the request has ended. Rejects when the signal is aborted. */
  async enter(deps: GateDeps, signal: AbortSignal | undefined): Promise<() => void> {
    const leave = await this.#place(signal)
    try {
      let seen = 0
      for (let until = this.pausedUntil; until > seen && until > deps.now(); until = this.pausedUntil) {
        seen = until
        const wait = until - deps.now()
        await deps.sleep(wait * (1 + deps.random() / 4), signal)
      }
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  /** As `enter`, where nothing is to be waited for; else undefined. */
  enterNow(now: number): (() => void) | undefined {
    return this.pausedUntil > now ? undefined : this.#freePlace()
  }

  /** Nobody enters before this moment, milliseconds since the epoch; an earlier one changes nothing. */
  pauseUntil(moment: number): void {
    const wanted = BigInt(Math.ceil(moment))
    for (let before = Atomics.load(this.#times, 0); before < wanted; before = Atomics.load(this.#times, 0))
      if (Atomics.compareExchange(this.#times, 0, before, wanted) === before) return
  }

  get pausedUntil(): number {
    return Number(Atomics.load(this.#times, 0))
  }

  /** A thread that died leaves nothing: its places are free. */
  free(thread: number): void {
    for (let place = firstPlace; place < this.#numbers.length; place += 1) this.#leave(place, thread + 1)
  }

  async #place(signal: AbortSignal | undefined): Promise<() => void> {
    for (;;) {
      signal?.throwIfAborted()
      const rung = Atomics.load(this.#numbers, bell)
      const leave = this.#freePlace()
      if (leave !== undefined) return leave
      await this.#rung(rung, signal)
    }
  }

  #freePlace(): (() => void) | undefined {
    if (this.#numbers.length === firstPlace) return () => {}
    for (let place = firstPlace; place < this.#numbers.length; place += 1)
      if (Atomics.compareExchange(this.#numbers, place, 0, threadId + 1) === 0) return () => this.#leave(place, threadId + 1)
    return undefined
  }

  #leave(place: number, holder: number): void {
    if (Atomics.compareExchange(this.#numbers, place, holder, 0) !== holder) return
    Atomics.add(this.#numbers, bell, 1)
    Atomics.notify(this.#numbers, bell)
  }

  async #rung(before: number, signal: AbortSignal | undefined): Promise<void> {
    const { async: waits, value } = Atomics.waitAsync(this.#numbers, bell, before, lookAgainMs)
    if (!waits) return
    let stop = () => {}
    const stopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    signal?.addEventListener('abort', stop, { once: true })
    await Promise.race([value, stopped])
    signal?.removeEventListener('abort', stop)
  }
}
