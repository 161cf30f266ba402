// How many bytes of bodies may be held at once, by all calls together: those being read and those not put together yet. The queue behind has its own bound.

export class ByteBudget {
  private readonly maxBytes: number
  private held = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** False, and nothing taken, where it would be too many. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.maxBytes) return false
    this.held += bytes
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}
