// Keeps the bytes of a body as they are read. Copied at once, since the caller may change or transfer a chunk when it has it; as text of one byte a character,
// which costs a fraction of growing a buffer. Bounded by itself, and with all others together.
import type { ByteBudget } from '../run/byte-budget.ts'

export class ByteCollector {
  byteLength = 0
  /** True when something beyond the bound was not kept. */
  truncated = false
  private readonly maxBytes: number
  private readonly budget: ByteBudget
  private bytes = ''

  constructor(maxBytes: number, budget: ByteBudget) {
    this.maxBytes = maxBytes
    this.budget = budget
  }

  add(chunk: Uint8Array): void {
    const { byteLength } = chunk
    if (this.truncated || this.byteLength + byteLength > this.maxBytes || !this.budget.take(byteLength)) {
      this.truncated = true
      return
    }
    this.byteLength += byteLength
    this.bytes += Buffer.from(chunk.buffer, chunk.byteOffset, byteLength).toString('latin1')
  }

  /** All so far, read as UTF-8. */
  text(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is UTF-8 already
    return /^[\x00-\x7f]*$/.test(this.bytes) ? this.bytes : Buffer.from(this.bytes, 'latin1').toString('utf8')
  }
}
