// One file of the spool: a head (how far it is acknowledged, whose spans these are), then records of length, checksum and bytes. Appended to by one process,
// read by it or, after its end, by the one that claims the file. A record that a kill cut off is not one.
import { existsSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { nodeZlib } from '../run/late-modules.ts'
import type { Origin } from './piece-queue.ts'

const magic = 'HGSPOOL1'
/** Magic, offset up to which everything is acknowledged, length of the origin's JSON. */
const fixedHead = 20
const recordHead = 8

export interface StoredPiece {
  piece: Buffer
  /** Where the next record begins. */
  end: number
}

export class SpoolSegment {
  readonly path: string
  readonly origin: Origin
  /** Everything before it is acknowledged. */
  acknowledged: number
  /** Where the next record goes. */
  end: number
  private readonly file: fs.FileHandle

  private constructor(path: string, file: fs.FileHandle, origin: Origin, acknowledged: number, end: number) {
    this.path = path
    this.file = file
    this.origin = origin
    this.acknowledged = acknowledged
    this.end = end
  }

  static async create(path: string, origin: Origin): Promise<SpoolSegment> {
    const head = headOf(origin)
    const file = await fs.open(path, 'wx+', 0o600)
    try {
      await writeAll(file, head, 0)
    } catch (error) {
      await file.close()
      throw error
    }
    return new SpoolSegment(path, file, origin, head.byteLength, head.byteLength)
  }

  /** A whole file at once, for a process that ends here. */
  static write(path: string, origin: Origin, pieces: readonly Buffer[]): void {
    writeFileSync(path, Buffer.concat([headOf(origin), recordsOf(pieces)]), { flag: 'wx', mode: 0o600 })
  }

  /** An earlier process's file; `undefined` where it is no segment, or was cut off in its head. */
  static async open(path: string): Promise<SpoolSegment | undefined> {
    const file = await fs.open(path, 'r+')
    let segment: SpoolSegment | undefined
    try {
      segment = await SpoolSegment.readHead(path, file)
    } finally {
      if (segment === undefined) await file.close()
    }
    return segment
  }

  private static async readHead(path: string, file: fs.FileHandle): Promise<SpoolSegment | undefined> {
    const head = Buffer.alloc(fixedHead)
    const { bytesRead } = await file.read(head, 0, fixedHead, 0)
    const { size } = await file.stat()
    const length = head.readUInt32LE(16)
    if (bytesRead < fixedHead || head.toString('latin1', 0, 8) !== magic || fixedHead + length > size) return undefined
    const json = Buffer.alloc(length)
    await file.read(json, 0, length, fixedHead)
    const origin = originOf(json.toString('utf8'))
    return origin === undefined ? undefined : new SpoolSegment(path, file, origin, Number(head.readBigUInt64LE(8)), size)
  }

  /** Whether something in it is not acknowledged. */
  get isWaiting(): boolean {
    return this.acknowledged < this.end
  }

  /** Whether somebody has removed its file, which this process can still read. */
  get isRemoved(): boolean {
    return !existsSync(this.path)
  }

  /** What the system has taken survives the end of this process. */
  async append(pieces: readonly Buffer[]): Promise<void> {
    const bytes = recordsOf(pieces)
    await writeAll(this.file, bytes, this.end)
    this.end += bytes.byteLength
  }

  /** Records from `start`, whole ones only. */
  async read(start: number, maxBytes: number, maxCount: number): Promise<StoredPiece[]> {
    const found: StoredPiece[] = []
    let bytes = Buffer.alloc(0)
    let base = start
    let at = start
    let taken = 0
    while (found.length < maxCount && at + recordHead <= this.end) {
      if (at + recordHead > base + bytes.byteLength) [bytes, base] = [await this.chunk(at, 256 * 1024), at]
      const length = bytes.readUInt32LE(at - base)
      const next = at + recordHead + length
      if (next > this.end || (found.length > 0 && taken + length > maxBytes)) break
      if (next > base + bytes.byteLength) [bytes, base] = [await this.chunk(at, Math.max(256 * 1024, recordHead + length)), at]
      const piece = Buffer.from(bytes.subarray(at - base + recordHead, next - base))
      if (!isWhole(piece, bytes.readUInt32LE(at - base + 4))) break
      found.push({ piece, end: next })
      taken += length
      at = next
    }
    return found
  }

  async acknowledge(offset: number): Promise<void> {
    this.acknowledged = offset
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(offset))
    await this.file.write(bytes, 0, 8, 8)
  }

  async close(): Promise<void> {
    await this.file.close()
  }

  async remove(): Promise<void> {
    await this.file.close()
    await fs.rm(this.path, { force: true })
  }

  private async chunk(start: number, length: number): Promise<Buffer<ArrayBuffer>> {
    const size = Math.min(length, this.end - start)
    const bytes = Buffer.alloc(size)
    await this.file.read(bytes, 0, size, start)
    return bytes
  }
}

/** A whole file in memory, for who rewrites it. */
export interface ParsedSegment {
  origin: Origin
  /** Where the first record begins, acknowledged or not. */
  begin: number
  acknowledged: number
  /** The whole ones, in order. Behind them is nothing, or what a kill cut off. */
  records: { start: number; end: number }[]
}

/** `undefined` where it is no segment, or was cut off in its head. */
export function parseSegment(bytes: Buffer): ParsedSegment | undefined {
  if (bytes.byteLength < fixedHead || bytes.toString('latin1', 0, 8) !== magic) return undefined
  const begin = fixedHead + bytes.readUInt32LE(16)
  const origin = begin > bytes.byteLength ? undefined : originOf(bytes.toString('utf8', fixedHead, begin))
  if (origin === undefined) return undefined
  const records: ParsedSegment['records'] = []
  for (let at = begin; at + recordHead <= bytes.byteLength; ) {
    const end = at + recordHead + bytes.readUInt32LE(at)
    if (end > bytes.byteLength || !isWhole(bytes.subarray(at + recordHead, end), bytes.readUInt32LE(at + 4))) break
    records.push({ start: at, end })
    at = end
  }
  return { origin, begin, acknowledged: Number(bytes.readBigUInt64LE(8)), records }
}

/** A machine that lost its power leaves zeros at the end of a file: records of nothing, whose checksum is right. No span is empty. */
function isWhole(piece: Buffer, checksum: number): boolean {
  return piece.byteLength > 0 && nodeZlib().crc32(piece) === checksum
}

/** The span in a record. */
export function pieceOf(bytes: Buffer, { start, end }: { start: number; end: number }): Buffer {
  return bytes.subarray(start + recordHead, end)
}

/** A segment's bytes with these of its records alone, byte for byte, none of them acknowledged. */
export function segmentOf(bytes: Buffer, { begin }: ParsedSegment, records: ParsedSegment['records']): Buffer {
  const head = Buffer.from(bytes.subarray(0, begin))
  head.writeBigUInt64LE(BigInt(begin), 8)
  return Buffer.concat([head, ...records.map(({ start, end }) => bytes.subarray(start, end))])
}

/** A disk that lost a block leaves anything. */
function originOf(text: string): Origin | undefined {
  try {
    const { resource, scope } = JSON.parse(text)
    return typeof resource === 'object' && typeof scope?.name === 'string' ? { resource, scope } : undefined
  } catch {
    return undefined
  }
}

/** A disk that is almost full takes a part, and says so in the number alone. */
async function writeAll(file: fs.FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at, bytes.byteLength - at, position + at)).bytesWritten
}

function headOf(origin: Origin): Buffer {
  const json = Buffer.from(JSON.stringify(origin))
  const head = Buffer.alloc(fixedHead)
  head.write(magic, 0, 'latin1')
  head.writeBigUInt64LE(BigInt(fixedHead + json.byteLength), 8)
  head.writeUInt32LE(json.byteLength, 16)
  return Buffer.concat([head, json])
}

function recordsOf(pieces: readonly Buffer[]): Buffer {
  const parts = pieces.flatMap((piece) => {
    const head = Buffer.allocUnsafe(recordHead)
    head.writeUInt32LE(piece.byteLength, 0)
    head.writeUInt32LE(nodeZlib().crc32(piece), 4)
    return [head, piece]
  })
  return Buffer.concat(parts)
}
