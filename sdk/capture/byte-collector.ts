// Copies the chunks of a body into one growing buffer: the caller may change or transfer a chunk once it has it. Bounded.

export class ByteCollector {
  /** True when something beyond the bound was not kept. */
  truncated = false
  private readonly maxBytes: number
  private buffer: Buffer | undefined
  private length = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get byteLength(): number {
    return this.length
  }

  add(chunk: Uint8Array): void {
    const needed = this.length + chunk.byteLength
    if (needed > this.maxBytes) {
      this.truncated = true
      return
    }
    if (this.buffer === undefined) this.buffer = Buffer.allocUnsafe(Math.max(4096, needed))
    else if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, needed))
      this.buffer.copy(larger, 0, 0, this.length)
      this.buffer = larger
    }
    this.buffer.set(chunk, this.length)
    this.length = needed
  }

  /** All so far as UTF-8. */
  text(): string {
    return this.buffer === undefined ? '' : this.buffer.toString('utf8', 0, this.length)
  }
}
