// Protobuf's wire format, read in one pass without an object a field: tags as one number, texts straight from the request's bytes. Knows nothing of OTLP.

/** Texts up to this many bytes are looked up before they are decoded: attribute names, models and the like come again and again. */
const longestKnown = 48
/** A power of two. */
const slots = 2048

interface KnownText {
  bytes: Uint8Array
  text: string
}

const known: (KnownText | undefined)[] = new Array<KnownText | undefined>(slots).fill(undefined)

/** Every method throws an Error where the bytes end early or are no protobuf. */
export class WireReader {
  readonly bytes: Buffer
  pos = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Field number x 8 + wire type, as it stands on the wire: the fields of a message are told apart by this number. */
  tag(): number {
    const tag = this.uint32()
    if (tag >>> 3 === 0) throw new Error('field number 0')
    return tag
  }

  /** A varint of at most 32 bits; what is beyond is cut, as protobuf says. */
  uint32(): number {
    const { bytes } = this
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[this.pos++]
      if (byte === undefined) throw new Error('the bytes end within a number')
      if (shift < 32) value |= (byte & 127) << shift
      if (byte < 128) return value >>> 0
    }
    throw new Error('a number is longer than ten bytes')
  }

  int32(): number {
    return this.uint32() | 0
  }

  bool(): boolean {
    return this.int64() !== 0
  }

  /** A varint of 64 bits with its sign: a number where it is exact, else a bigint. */
  int64(): number | bigint {
    const { bytes } = this
    const first = bytes[this.pos]
    if (first !== undefined && first < 128) {
      this.pos += 1
      return first
    }
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[this.pos++]
      if (byte === undefined) throw new Error('the bytes end within a number')
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return plainInteger(BigInt.asIntN(64, value))
    }
    throw new Error('a number is longer than ten bytes')
  }

  fixed64(): bigint {
    const value = this.bytes.readBigUInt64LE(this.pos)
    this.pos += 8
    return value
  }

  double(): number {
    const value = this.bytes.readDoubleLE(this.pos)
    this.pos += 8
    return value
  }

  /** Reads the length of a nested message: where it ends. */
  messageEnd(): number {
    const end = this.uint32() + this.pos
    if (end > this.bytes.length) throw new Error('a message runs over the end of the body')
    return end
  }

  /** Broken UTF-8 becomes U+FFFD. */
  text(): string {
    const end = this.messageEnd()
    const start = this.pos
    this.pos = end
    return end - start <= longestKnown ? this.#knownText(start, end) : this.bytes.toString('utf8', start, end)
  }

  /** Lower-case hex of a field of bytes. */
  hex(): string {
    const end = this.messageEnd()
    const start = this.pos
    this.pos = end
    return this.bytes.toString('hex', start, end)
  }

  /** A copy, which outlives the request. */
  copy(): Uint8Array {
    const end = this.messageEnd()
    const start = this.pos
    this.pos = end
    return Uint8Array.from(this.bytes.subarray(start, end))
  }

  /** Passes over the field whose tag was read last. */
  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case 0:
        this.int64()
        return
      case 1:
        this.#pass(8)
        return
      case 2:
        this.pos = this.messageEnd()
        return
      case 3:
        // A group, which proto3 has given up: all until its end.
        if (depth > 64) throw new Error('groups are nested too deeply')
        for (let inner = this.tag(); inner !== tag + 1; inner = this.tag()) {
          if ((inner & 7) === 4) throw new Error('a group ends that has not begun')
          this.skip(inner, depth + 1)
        }
        return
      case 5:
        this.#pass(4)
        return
      default:
        throw new Error('no such wire type')
    }
  }

  /** To be asked after a message's last field. @throws Error where a field ran over the message's end */
  endsAt(end: number): void {
    if (this.pos !== end) throw new Error('a field runs over the end of its message')
  }

  #pass(count: number): void {
    this.pos += count
    if (this.pos > this.bytes.length) throw new Error('the bytes end within a field')
  }

  #knownText(start: number, end: number): string {
    const length = end - start
    if (length === 0) return ''
    const { bytes } = this
    // First, middle and last bytes tell most names apart; whether it is the one is seen by comparing all.
    let hash = length
    hash = (hash * 31 + (bytes[start] ?? 0)) | 0
    hash = (hash * 31 + (bytes[start + (length >> 1)] ?? 0)) | 0
    hash = (hash * 31 + (bytes[end - 2] ?? 0)) | 0
    hash = (hash * 31 + (bytes[end - 1] ?? 0)) | 0
    hash = (hash * 31 + (bytes[start + ((length * 3) >> 2)] ?? 0)) | 0
    const slot = (hash ^ (hash >>> 11)) & (slots - 1)
    const found = known[slot]
    if (found !== undefined && found.bytes.length === length && sameBytes(found.bytes, bytes, start)) return found.text
    const text = bytes.toString('utf8', start, end)
    known[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), text }
    return text
  }
}

function sameBytes(expected: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let n = 0; n < expected.length; n++) if (expected[n] !== bytes[start + n]) return false
  return true
}

/** A number where it is exact, else the bigint. */
export function plainInteger(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}
