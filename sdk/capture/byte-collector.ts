// Keeps the bytes of a body as they are read. Copied at once, since the caller may change or transfer a chunk when it has it; as text of one byte a character,
// which costs a fraction of growing a buffer. Bounded.

export class ByteCollector {
  byteLength = 0
  /** True when something beyond the bound was not kept. */
  truncated = false
  private readonly maxBytes: number
  private bytes = ''

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  add(chunk: Uint8Array): void {
    const { byteLength } = chunk
    if (this.truncated || this.byteLength + byteLength > this.maxBytes) {
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
