// The queue on disk: spans are appended to segment files as they come, read back in batches, and a file goes when all of it is acknowledged. What a process
// leaves behind, killed or not, the next one on the same folder sends. Bounded; one folder may serve several processes.
import { rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { diag } from '../run/host-telemetry.ts'
import { warnHost } from '../run/warn-host.ts'
import { makeFolder } from '../trace/make-folder.ts'
import { errorText } from '../trace/thrown.ts'
import { type Batch, MemoryQueue, type Origin, type PieceQueue } from './piece-queue.ts'
import { freshSpoolFile, isLeft, releaseSpoolFile } from './spool-files.ts'
import { SpoolSegment } from './spool-segment.ts'

const segmentBytes = 8 * 1024 * 1024
/** What may wait in memory: for a disk that is slower than the product, and instead of a disk that cannot be used. */
const memoryBytes = 64 * 1024 * 1024

/** Where spans wait on disk, and how many. */
export interface SpoolOptions {
  /** Made when it is missing; its files are readable by their owner only. */
  folder: string
  /** Bytes on disk; beyond it new spans are dropped. @default 512 MiB */
  maxBytes?: number
}

export class SpoolQueue implements PieceQueue {
  count = 0
  /** On disk and on the way there. */
  bytes = 0
  private readonly folder: string
  private readonly maxBytes: number
  private readonly origin: Origin
  /** Not on disk yet. */
  private unwritten: Buffer[] = []
  private unwrittenBytes = 0
  /** On the way to the disk. */
  private underWay: readonly Buffer[] = []
  private writing: Promise<void> | undefined
  private readonly opened: Promise<void>
  /** Oldest first; the last one is written to. */
  private segments: SpoolSegment[] = []
  /** Of the batch last peeked: ends of its records, in the first segment. */
  private ends: number[] = []
  private sizes: number[] = []
  /** Where spans wait when the disk cannot be used. */
  private memory: MemoryQueue | undefined
  private batchInMemory = false

  constructor(origin: Origin, options: SpoolOptions) {
    this.folder = options.folder
    this.maxBytes = options.maxBytes ?? 512 * 1024 * 1024
    this.origin = origin
    this.opened = this.adopt().catch((error: unknown) => this.fail(error))
  }

  /** Whether what waits survives the process. */
  get onDisk(): boolean {
    return this.memory === undefined && !this.segments.some((segment) => segment.isWaiting && segment.isRemoved)
  }

  add(piece: Buffer): boolean {
    if (this.memory !== undefined) return this.inMemory(this.memory, this.memory.add(piece))
    const { byteLength } = piece
    if (this.bytes + byteLength > this.maxBytes || this.unwrittenBytes + byteLength > memoryBytes) return false
    this.unwritten.push(piece)
    this.unwrittenBytes += byteLength
    this.bytes += byteLength
    this.count += 1
    void this.write()
    return true
  }

  async peek(maxBytes: number, maxCount: number): Promise<Batch | undefined> {
    await this.opened
    await this.write()
    this.batchInMemory = this.memory !== undefined
    if (this.memory !== undefined) return await this.memory.peek(maxBytes, maxCount)
    for (;;) {
      const [first] = this.segments
      if (first === undefined) return undefined
      const found = await first.read(first.acknowledged, maxBytes, maxCount)
      this.ends = found.map(({ end }) => end)
      this.sizes = found.map(({ piece }) => piece.byteLength)
      if (found.length > 0)
        return { pieces: found.map(({ piece }) => piece), bytes: this.sizes.reduce((sum, size) => sum + size, 0), origin: first.origin }
      // Nothing whole is left in it; the one that is written to stays.
      if (this.segments.length === 1 && first.origin === this.origin) return undefined
      this.segments.shift()
      await first.remove()
      releaseSpoolFile(first.path)
    }
  }

  async done(count: number): Promise<void> {
    if (this.memory !== undefined) {
      // The disk failed while a batch of it was sent, which the next process sends again; these are other spans.
      if (!this.batchInMemory) return
      await this.memory.done(count)
      this.inMemory(this.memory, true)
      return
    }
    const [first] = this.segments
    const end = this.ends[count - 1]
    if (first === undefined || end === undefined) return
    await first.acknowledge(end)
    for (const size of this.sizes.splice(0, count)) this.bytes -= size
    this.ends.splice(0, count)
    this.count -= count
  }

  async close(): Promise<number> {
    await this.opened
    await this.write()
    if (this.memory !== undefined) {
      const lost = await this.memory.close()
      this.inMemory(this.memory, true)
      return lost
    }
    let lost = 0
    for (const segment of this.segments.splice(0)) {
      const left = await segment.read(segment.acknowledged, Number.POSITIVE_INFINITY, segment.isRemoved ? Number.POSITIVE_INFINITY : 1)
      if (segment.isRemoved) {
        lost += left.length
        for (const { piece } of left) this.bytes -= piece.byteLength
      }
      await (left.length === 0 ? segment.remove() : segment.close())
      releaseSpoolFile(segment.path)
    }
    this.count -= lost
    return lost
  }

  /**
   * Writes what is not on disk yet before it returns, and removes the files that nothing waits in, for a process that ends here.
   * What was on its way to the disk may then be sent twice, as the same spans. Never throws.
   */
  keep(): void {
    const pieces = [...this.underWay, ...this.unwritten]
    if (this.memory !== undefined) return
    try {
      if (pieces.length > 0) SpoolSegment.write(freshSpoolFile(this.folder), this.origin, pieces)
      this.unwritten = []
      // Spans that were sent must not lie there until the next start, which may be never.
      if (this.underWay.length === 0) for (const segment of this.segments) if (!segment.isWaiting) rmSync(segment.path, { force: true })
    } catch (error) {
      diag.warn(`homeground: ${pieces.length} spans could not be kept in ${this.folder}: ${errorText(error)}`)
    }
  }

  private write(): Promise<void> {
    this.writing ??= this.append()
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.writing = undefined
      })
    return this.writing
  }

  private async append(): Promise<void> {
    await this.opened
    while (this.unwritten.length > 0 && this.memory === undefined) {
      const segment = await this.current()
      let size = 0
      let count = 0
      while (count < this.unwritten.length && size < segmentBytes) size += this.unwritten[count++]?.byteLength ?? 0
      const pieces = this.unwritten.splice(0, count)
      this.underWay = pieces
      try {
        await segment.append(pieces)
      } catch (error) {
        this.unwritten = [...pieces, ...this.unwritten]
        throw error
      } finally {
        this.underWay = []
      }
      this.unwrittenBytes -= size
    }
  }

  /** The segment to append to: ours, and not full. */
  private async current(): Promise<SpoolSegment> {
    const last = this.segments.at(-1)
    if (last?.isRemoved === true) this.warnRemoved()
    else if (last !== undefined && last.origin === this.origin && last.end < segmentBytes) return last
    makeFolder(this.folder, { mode: 0o700 })
    const made = await SpoolSegment.create(freshSpoolFile(this.folder), this.origin)
    this.segments.push(made)
    return made
  }

  /** Takes over what ended processes have left. */
  private async adopt(): Promise<void> {
    makeFolder(this.folder, { mode: 0o700 })
    for (const name of (await fs.readdir(this.folder)).toSorted()) {
      const found = path.join(this.folder, name)
      const segment = (await isLeft(found)) ? await this.claim(found) : undefined
      if (segment !== undefined) await this.take(segment)
    }
  }

  /** A rename claims a file: of two that try, one gets it. One that is none is removed; another user's waits for a process that may read it. */
  private async claim(found: string): Promise<SpoolSegment | undefined> {
    const mine = freshSpoolFile(this.folder)
    try {
      await fs.rename(found, mine)
    } catch {
      releaseSpoolFile(mine)
      return undefined
    }
    try {
      const segment = await SpoolSegment.open(mine)
      if (segment === undefined) await fs.rm(mine, { force: true })
      return segment
    } catch (error) {
      diag.warn(`homeground: spans stay in ${found}, which cannot be opened: ${errorText(error)}`)
      await fs.rename(mine, found).catch(() => undefined)
      releaseSpoolFile(mine)
      return undefined
    }
  }

  private async take(segment: SpoolSegment): Promise<void> {
    for (let at = segment.acknowledged; ; ) {
      const found = await segment.read(at, 1024 * 1024, 10_000)
      const last = found.at(-1)
      if (last === undefined) break
      at = last.end
      this.count += found.length
      for (const { piece } of found) this.bytes += piece.byteLength
    }
    this.segments.push(segment)
  }

  /** Somebody has cleared the folder: what is in its files can be read as long as they are open, and new spans go to a new one. */
  private warnRemoved(): void {
    warnHost(
      this,
      `files of the spool at ${this.folder} were removed while it was used; spans in them are lost with the process, where the collector does not take them before`,
    )
  }

  private fail(error: unknown): void {
    if (this.memory !== undefined) return
    const reason = errorText(error)
    warnHost(this, `the spool at ${this.folder} cannot be used (${reason}); spans wait in memory, and are lost with the process`)
    this.memory = new MemoryQueue(this.origin, Math.min(this.maxBytes, memoryBytes))
    for (const piece of this.unwritten.splice(0)) this.memory.add(piece)
    // What is on the disk waits there, for the next one that can use it.
    for (const segment of this.segments.splice(0)) {
      segment.close().catch(() => undefined)
      releaseSpoolFile(segment.path)
    }
    this.inMemory(this.memory, true)
  }

  private inMemory(memory: MemoryQueue, taken: boolean): boolean {
    this.count = memory.count
    this.bytes = memory.bytes
    return taken
  }
}
