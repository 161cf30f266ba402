// ClickHouse's RowBinary: what an insert sends. Binary, so that NUL, quotes and 64-bit integers need no escaping, and several times cheaper to write than JSON.

/** Texts of at most so many UTF-16 units are written without Buffer's help. */
const byHand = 40

/** Appends values to one growing buffer. Numbers are little-endian; lengths are unsigned LEB128. */
export class RowBinaryWriter {
  #buffer = Buffer.allocUnsafe(1 << 16)
  #length = 0

  /** Bytes written since the last `clear`. */
  get length(): number {
    return this.#length
  }

  /** What was written, without a copy: good until the next write after `clear`. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Starts anew in the same memory. */
  clear(): void {
    this.#length = 0
  }

  /** UTF-8; a lone surrogate becomes U+FFFD. */
  string(text: string): void {
    const units = text.length
    // Three bytes a UTF-16 unit is the most that UTF-8 takes.
    this.#reserve(units * 3 + 5)
    if (units <= byHand && this.#shortAscii(text)) return
    // The length stands before the bytes and is known after them: room for it is left as if all were ASCII, and mended where they are not.
    const room = varintBytes(units)
    const bytes = this.#buffer.write(text, this.#length + room)
    const needed = varintBytes(bytes)
    if (needed !== room) this.#buffer.copyWithin(this.#length + needed, this.#length + room, this.#length + room + bytes)
    this.#varint(bytes)
    this.#length += bytes
  }

  /** Most columns hold nothing or a word: for these a call into the engine costs more than the bytes. False where there is more than ASCII; then nothing was written. */
  #shortAscii(text: string): boolean {
    const buffer = this.#buffer
    const start = this.#length + 1
    for (let n = 0; n < text.length; n++) {
      const unit = text.charCodeAt(n)
      if (unit > 127) return false
      buffer[start + n] = unit
    }
    buffer[this.#length] = text.length
    this.#length = start + text.length
    return true
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  boolean(value: boolean): void {
    this.byte(value ? 1 : 0)
  }

  uint16(value: number): void {
    this.#reserve(2)
    this.#length = this.#buffer.writeUInt16LE(clamp(value, 0, 0xffff), this.#length)
  }

  int32(value: number): void {
    this.#reserve(4)
    this.#length = this.#buffer.writeInt32LE(clamp(value, -0x80000000, 0x7fffffff), this.#length)
  }

  int64(value: bigint): void {
    this.#reserve(8)
    this.#length = this.#buffer.writeBigInt64LE(BigInt.asIntN(64, value), this.#length)
  }

  float64(value: number): void {
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  /** Nullable(UInt64): what is no count (absent, negative, not finite) is NULL; a fraction is cut. */
  nullableCount(value: number | undefined): void {
    const isCount = value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    this.byte(isCount ? 0 : 1)
    if (!isCount) return
    this.#reserve(8)
    const whole = Math.trunc(value)
    this.#buffer.writeUInt32LE(whole % 0x1_0000_0000, this.#length)
    this.#length = this.#buffer.writeUInt32LE(Math.floor(whole / 0x1_0000_0000), this.#length + 4)
  }

  nullableFloat64(value: number | undefined): void {
    const isNumber = value !== undefined && Number.isFinite(value)
    this.byte(isNumber ? 0 : 1)
    if (isNumber) this.float64(value)
  }

  strings(list: readonly string[]): void {
    this.#reserve(5)
    this.#varint(list.length)
    for (const text of list) this.string(text)
  }

  map(record: Readonly<Record<string, string>>): void {
    const keys = Object.keys(record)
    this.#reserve(5)
    this.#varint(keys.length)
    for (const key of keys) {
      this.string(key)
      this.string(record[key] ?? '')
    }
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.#buffer[this.#length++] = (rest & 127) | 128
      rest = Math.floor(rest / 128)
    }
    this.#buffer[this.#length++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}

function clamp(value: number, low: number, high: number): number {
  return Number.isFinite(value) ? Math.min(high, Math.max(low, Math.trunc(value))) : low
}
