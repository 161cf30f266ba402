// Ids of many lines in few bytes each and outside the heap: their text end to end in one buffer, found through a table of positions. A Map of as many strings takes
// four times the room, and the collector walks it again and again.

/** Ids in the order they came; of ids that come twice the first is found. */
export class IdTable {
  #bytes = Buffer.allocUnsafeSlow(1 << 12)
  #ends = new Uint32Array(1 << 7)
  #size = 0
  readonly #positions = new PositionTable((position) => this.at(position))

  get size(): number {
    return this.#size
  }

  /** Whether an id came twice. */
  get hasDoubles(): boolean {
    return this.#positions.size < this.#size
  }

  push(id: string): void {
    const start = this.#startOf(this.#size)
    const end = start + Buffer.byteLength(id)
    while (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2)
    if (this.#size === this.#ends.length) this.#ends = grown(this.#ends)
    this.#bytes.write(id, start)
    this.#ends[this.#size] = end
    this.#positions.add(id, this.#size)
    this.#size += 1
  }

  at(position: number): string {
    return this.#bytes.toString('utf8', this.#startOf(position), this.#ends[position])
  }

  indexOf(id: string): number | undefined {
    return this.#positions.find(id)
  }

  *[Symbol.iterator](): Generator<string> {
    for (let position = 0; position < this.#size; position += 1) yield this.at(position)
  }

  equals(other: IdTable): boolean {
    return (
      this.#size === other.#size &&
      this.#ends.subarray(0, this.#size).every((end, position) => end === other.#ends[position]) &&
      this.#bytes.subarray(0, this.#startOf(this.#size)).equals(other.#bytes.subarray(0, other.#startOf(this.#size)))
    )
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : (this.#ends[position - 1] ?? 0)
  }
}

/** Where ids stand that are kept elsewhere: open addressing, at most half full. */
export class PositionTable {
  readonly #at: (position: number) => string | undefined
  /** Position + 1; 0 is free. */
  #slots = new Int32Array(1 << 8)
  #size = 0

  constructor(at: (position: number) => string | undefined) {
    this.#at = at
  }

  /** Different ids. */
  get size(): number {
    return this.#size
  }

  /** Where the id stands already, nothing is changed. */
  add(id: string, position: number): void {
    if ((this.#size + 1) * 2 > this.#slots.length) this.#grow()
    const slot = this.#slotOf(id)
    if (this.#slots[slot] !== 0) return
    this.#slots[slot] = position + 1
    this.#size += 1
  }

  find(id: string): number | undefined {
    const found = this.#slots[this.#slotOf(id)] ?? 0
    return found === 0 ? undefined : found - 1
  }

  /** The id's own slot, or the free one where it would go. */
  #slotOf(id: string): number {
    const mask = this.#slots.length - 1
    let slot = hashOf(id) & mask
    for (let found = this.#slots[slot] ?? 0; found !== 0 && this.#at(found - 1) !== id; found = this.#slots[slot] ?? 0)
      slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Int32Array(before.length * 2)
    for (const found of before) if (found !== 0) this.#slots[this.#slotOf(this.#at(found - 1) ?? '')] = found
  }
}

/** FNV-1a over UTF-16 units. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(array.length * 2)
  more.set(array)
  return more
}
