// What waits for the collector: encoded spans, oldest first, bounded in bytes. In memory here; on disk in spool-queue.ts.
import type { Attributes, SpanRecord } from '../trace/span.ts'

/** Where the pieces of a batch come from: an earlier process may have had another resource. */
export interface Origin {
  resource: Attributes
  scope: SpanRecord['scope']
}

export interface Batch {
  pieces: readonly Buffer[]
  bytes: number
  origin: Origin
}

export interface PieceQueue {
  /** False when it is full: the piece is not taken. Never throws. */
  add(piece: Buffer): boolean
  /** The oldest pieces, at least one, else up to both bounds; `undefined` when nothing waits. The same ones again until `done`. */
  peek(maxBytes: number, maxCount: number): Promise<Batch | undefined>
  /** The first `count` pieces need not be kept any longer. */
  done(count: number): Promise<void>
  /** Pieces and bytes that wait. */
  readonly count: number
  readonly bytes: number
  /** What waits on disk stays there; gives how many pieces are lost, since nothing keeps them. */
  close(): Promise<number>
}

export class MemoryQueue implements PieceQueue {
  bytes = 0
  private pieces: Buffer[] = []
  private readonly origin: Origin
  private readonly maxBytes: number

  constructor(origin: Origin, maxBytes: number) {
    this.origin = origin
    this.maxBytes = maxBytes
  }

  get count(): number {
    return this.pieces.length
  }

  add(piece: Buffer): boolean {
    if (this.bytes + piece.byteLength > this.maxBytes) return false
    this.pieces.push(piece)
    this.bytes += piece.byteLength
    return true
  }

  async peek(maxBytes: number, maxCount: number): Promise<Batch | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    for (const piece of this.pieces) {
      if (pieces.length >= maxCount || (pieces.length > 0 && bytes + piece.byteLength > maxBytes)) break
      pieces.push(piece)
      bytes += piece.byteLength
    }
    return pieces.length === 0 ? undefined : { pieces, bytes, origin: this.origin }
  }

  async done(count: number): Promise<void> {
    for (const piece of this.pieces.splice(0, count)) this.bytes -= piece.byteLength
  }

  async close(): Promise<number> {
    const lost = this.pieces.length
    this.pieces = []
    this.bytes = 0
    return lost
  }
}
