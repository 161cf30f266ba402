// The few protobuf encodings that OTLP needs, written straight to where they stay: small messages follow one another in a block, none is copied.

const blockBytes = 128 * 1024
/** A message beyond it gets memory of its own, so that a block is nearly full when it is left. */
const smallBytes = 8 * 1024

export class ProtobufWriter {
  private block: Buffer | undefined
  /** Where the block's free part begins. */
  private used = 0
  private buffer: Buffer = Buffer.alloc(0)
  private start = 0
  private at = 0

  /** A message of at most so many bytes: writing more throws. */
  begin(byteLength: number): void {
    if (byteLength > smallBytes) {
      this.buffer = Buffer.allocUnsafeSlow(byteLength)
      this.start = 0
    } else {
      if (this.block === undefined || this.used + byteLength > blockBytes) {
        this.block = Buffer.allocUnsafeSlow(blockBytes)
        this.used = 0
      }
      this.buffer = this.block
      this.start = this.used
      this.used += byteLength
    }
    this.at = this.start
  }

  /** What was written since `begin`. */
  bytes(): Buffer {
    return this.buffer.subarray(this.start, this.at)
  }

  varint(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.buffer[this.at++] = rest
  }

  bigVarint(value: bigint): void {
    let rest = BigInt.asUintN(64, value)
    while (rest >= 0x80n) {
      this.buffer[this.at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.buffer[this.at++] = Number(rest)
  }

  fixed64(value: bigint): void {
    this.at = this.buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.at)
  }

  double(value: number): void {
    this.at = this.buffer.writeDoubleLE(value, this.at)
  }

  /** The text without its length. */
  text(value: string, byteLength: number): void {
    this.at += this.buffer.write(value, this.at, byteLength, 'utf8')
  }

  /** The bytes that the hexadecimal text stands for. */
  hex(value: string): void {
    this.at += this.buffer.write(value, this.at, 'hex')
  }

  raw(value: Uint8Array): void {
    this.buffer.set(value, this.at)
    this.at += value.byteLength
  }
}

/** Bytes of a varint. */
export function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1
  return size
}

/** Bytes of a varint of 64 bits; below zero all of them. */
export function bigVarintSize(value: bigint): number {
  let size = 1
  for (let rest = BigInt.asUintN(64, value); rest >= 0x80n; rest >>= 7n) size += 1
  return size
}

/** Bytes of a field of this content length: tag of one byte, length, content. Field numbers up to 15. */
export function fieldSize(contentLength: number): number {
  return 1 + varintSize(contentLength) + contentLength
}
