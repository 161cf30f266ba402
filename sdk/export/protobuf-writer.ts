// The few protobuf encodings that OTLP needs, into one growing buffer. Nested messages are measured first, so that every byte is written once.

export class ProtobufWriter {
  private buffer = Buffer.allocUnsafe(64 * 1024)
  private at = 0

  /** Starts over, keeping the buffer (but not a huge one). */
  reset(): void {
    if (this.buffer.length > 1024 * 1024) this.buffer = Buffer.allocUnsafe(64 * 1024)
    this.at = 0
  }

  /** A copy of what was written. */
  bytes(): Buffer {
    return Buffer.from(this.buffer.subarray(0, this.at))
  }

  varint(value: number): void {
    this.reserve(10)
    let rest = value
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.buffer[this.at++] = rest
  }

  bigVarint(value: bigint): void {
    this.reserve(10)
    let rest = BigInt.asUintN(64, value)
    while (rest >= 0x80n) {
      this.buffer[this.at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.buffer[this.at++] = Number(rest)
  }

  fixed64(value: bigint): void {
    this.reserve(8)
    this.at = this.buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.at)
  }

  double(value: number): void {
    this.reserve(8)
    this.at = this.buffer.writeDoubleLE(value, this.at)
  }

  /** The text without its length. */
  text(value: string, byteLength: number): void {
    this.reserve(byteLength)
    this.at += this.buffer.write(value, this.at, byteLength, 'utf8')
  }

  /** The bytes that the hexadecimal text stands for. */
  hex(value: string): void {
    this.reserve(value.length / 2)
    this.at += this.buffer.write(value, this.at, 'hex')
  }

  raw(value: Uint8Array): void {
    this.reserve(value.byteLength)
    this.buffer.set(value, this.at)
    this.at += value.byteLength
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes))
    this.buffer.copy(larger, 0, 0, this.at)
    this.buffer = larger
  }
}

/** Bytes of a varint. */
export function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1
  return size
}

/** Bytes of a field of this content length: tag of one byte, length, content. Field numbers up to 15. */
export function fieldSize(contentLength: number): number {
  return 1 + varintSize(contentLength) + contentLength
}
