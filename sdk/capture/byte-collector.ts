// Keeps the bytes of a body as they are read. Copied at once, since the caller may change or transfer a chunk when it has it; into blocks that are used again by
// later bodies, so that a stream of many small chunks leaves the garbage collector nothing. Bounded by itself, and with all others together.
import { isAscii } from 'node:buffer'
import type { ByteBudget } from '../run/byte-budget.ts'

const blockBytes = 16 * 1024
/** Blocks that wait for the next body: 2 MiB at most. */
const spare: Buffer[] = []
const maxSpare = 128

export class ByteCollector {
  byteLength = 0
  /** True when something beyond the bound was not kept. */
  truncated = false
  private readonly maxBytes: number
  private readonly budget: ByteBudget
  private readonly blocks: Buffer[] = []
  /** Of the last block. */
  private free = 0

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
    if (byteLength <= this.free) this.put(chunk)
    else this.spread(chunk)
  }

  /** All so far. */
  bytes(): Buffer {
    return Buffer.concat(this.parts())
  }

  /** All so far, read as UTF-8. */
  text(): string {
    const parts = this.parts()
    // ASCII is UTF-8 already, and read several times as fast.
    if (parts.every((part) => isAscii(part))) return parts.map((part) => part.toString('latin1')).join('')
    return Buffer.concat(parts).toString('utf8')
  }

  /** Lets go of the bytes; nothing is added afterwards. */
  release(): void {
    for (const block of this.blocks) if (spare.length < maxSpare) spare.push(block)
    this.blocks.length = 0
    this.free = 0
  }

  private parts(): Buffer[] {
    const { blocks, free } = this
    return blocks.map((block, index) => (index === blocks.length - 1 ? block.subarray(0, block.byteLength - free) : block))
  }

  private put(chunk: Uint8Array): void {
    const block = this.blocks.at(-1)
    if (block === undefined) return
    block.set(chunk, blockBytes - this.free)
    this.free -= chunk.byteLength
  }

  /** Over the rest of the last block and new ones. */
  private spread(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; ) {
      if (this.free === 0) {
        this.blocks.push(spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes))
        this.free = blockBytes
      }
      const end = Math.min(chunk.byteLength, at + this.free)
      this.put(chunk.subarray(at, end))
      at = end
    }
  }
}
