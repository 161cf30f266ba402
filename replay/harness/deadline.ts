// The time that a rollout has. While it waits through no fault of its own (its turn at an endpoint), none of it goes by.

export class Deadline {
  readonly #onOver: () => void
  #leftMs: number
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #holds = 0

  /** Without a limit nothing ever happens. */
  constructor(ms: number | undefined, onOver: () => void) {
    this.#onOver = onOver
    this.#leftMs = ms ?? Number.POSITIVE_INFINITY
    this.#run()
  }

  /** Stops the time until each that held it has let go. */
  hold(): void {
    this.#holds += 1
    if (this.#holds > 1) return
    clearTimeout(this.#timer)
    this.#leftMs -= performance.now() - this.#since
  }

  letGo(): void {
    this.#holds -= 1
    if (this.#holds === 0) this.#run()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#leftMs = Number.POSITIVE_INFINITY
  }

  #run(): void {
    this.#since = performance.now()
    if (Number.isFinite(this.#leftMs)) this.#timer = setTimeout(this.#onOver, Math.max(0, this.#leftMs))
  }
}
