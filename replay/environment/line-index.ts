// Where each line of a JSON Lines file stands (12 bytes a line): so that one can be read without holding the file. One pass over the bytes also gives the file's hash.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { IdTable } from './id-table.ts'

export interface LinePlaces {
  /** sha256 of the bytes. */
  hash: string
  /** How many lines were taken. */
  size: number
  /** The text of the line at this position. */
  read(position: number): Promise<string>
  /** Line number in the file, from 1. */
  line(position: number): number
  close(): Promise<void>
}

export interface LineIndex extends LinePlaces {
  /** By position. */
  ids: IdTable
}

/** Where an id is found without parsing the line, as the files we write begin. */
const leading = {
  id: /^\{"id":"([^"\\]*)"/,
  task: /^\{"task":"([^"\\]*)"/,
  episode: /^\{"format":1,"id":"([^"\\]*)"/,
} as const

/**
 * Ids come from the member `key`. A line that is not JSON, or has no such member, gets the id `''`: reading it tells what is wrong.
 * @throws the file system's error
 */
export async function indexLines(path: string, key: 'id' | 'task'): Promise<LineIndex> {
  const ids = new IdTable()
  const places = await placeLines(path, (bytes) => {
    const id = idOf(bytes, key)
    if (id !== undefined) ids.push(id)
    return id !== undefined
  })
  return { ...places, ids }
}

/** `take` says whether a line gets a position; it is shown each, with its number from 1. @throws the file system's error, and what `take` throws */
export async function placeLines(path: string, take: (bytes: Buffer, line: number) => boolean): Promise<LinePlaces> {
  const handle = await fs.promises.open(path, 'r')
  try {
    const { hash, places } = await scan(handle, take)
    return reader(handle, hash, places)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** One pass over the file, from its start. */
async function scan(
  handle: fs.promises.FileHandle,
  take: (bytes: Buffer, line: number) => boolean,
): Promise<{ hash: string; places: Places }> {
  const hash = createHash('sha256')
  const places = new Places()
  let lineNumber = 0
  let pieces: Buffer[] = []
  let start = 0
  let at = 0
  const add = (bytes: Buffer): void => {
    lineNumber += 1
    if (take(bytes, lineNumber)) places.add(start, bytes.length, lineNumber)
  }
  // Read into one block again and again: blocks of their own would lie about until the collector comes.
  const block = Buffer.allocUnsafeSlow(1 << 18)
  for (;;) {
    const { bytesRead } = await handle.read(block, 0, block.length, at)
    if (bytesRead === 0) break
    const bytes = block.subarray(0, bytesRead)
    hash.update(bytes)
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      const line = bytes.subarray(from, end)
      add(pieces.length === 0 ? line : Buffer.concat([...pieces, line]))
      pieces = []
      from = end + 1
      start = at + from
    }
    if (from < bytesRead) pieces.push(Buffer.from(bytes.subarray(from)))
    at += bytesRead
  }
  if (pieces.length > 0) add(Buffer.concat(pieces))
  return { hash: hash.digest('hex'), places }
}

/** A function of its own: what it gives lives long, and must not keep alive what the pass was made with. */
function reader(handle: fs.promises.FileHandle, hash: string, places: Places): LinePlaces {
  const blocks: Buffer[] = []
  return {
    hash,
    size: places.size,
    async read(position) {
      const length = places.length(position)
      const spare = blocks.pop()
      const block = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafeSlow(Math.max(length, 1 << 14))
      await handle.read(block, 0, length, places.start(position))
      const text = block.toString('utf8', 0, length)
      if (blocks.length < keptBlocks) blocks.push(block)
      return text
    },
    line: (position) => places.line(position),
    close: () => handle.close(),
  }
}

/** Start, length and number of lines, in 12 bytes each; 16 where a line was left out. */
class Places {
  size = 0
  #starts = new Float64Array(1024)
  #lengths = new Uint32Array(1024)
  /** Only where a line was left out do numbers say more than positions. */
  #lines: Uint32Array | undefined

  add(start: number, length: number, line: number): void {
    const { size } = this
    if (size === this.#starts.length) {
      this.#starts = grown(this.#starts, new Float64Array(size * 2))
      this.#lengths = grown(this.#lengths, new Uint32Array(size * 2))
      if (this.#lines !== undefined) this.#lines = grown(this.#lines, new Uint32Array(size * 2))
    }
    this.#starts[size] = start
    this.#lengths[size] = length
    if (this.#lines === undefined && line !== size + 1)
      this.#lines = new Uint32Array(this.#starts.length).map((_, position) => position + 1)
    if (this.#lines !== undefined) this.#lines[size] = line
    this.size += 1
  }

  start(position: number): number {
    return this.#starts[position] ?? 0
  }

  length(position: number): number {
    return this.#lengths[position] ?? 0
  }

  line(position: number): number {
    return this.#lines === undefined ? position + 1 : (this.#lines[position] ?? 0)
  }
}

/** Lines are read into blocks that are used again: one for each would lie outside the heap until the collector comes. */
const keptBlocks = 16

/** The member `key` of a line (`episode`: the member `id` of an episode's); `''` where it has none, `undefined` for a blank line. */
export function idOf(bytes: Buffer, key: keyof typeof leading): string | undefined {
  const found = leading[key].exec(bytes.toString('latin1', 0, Math.min(bytes.length, 300)))?.[1]
  // Ids beyond ASCII are read from the text. A copy: what was matched would keep all of the text alive that it was matched in.
  if (found !== undefined && /^[\x20-\x7e]*$/.test(found)) return Buffer.from(found, 'latin1').toString('latin1')
  const text = bytes.toString('utf8')
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key === 'task' ? 'task' : 'id') : undefined
    return typeof id === 'string' ? id : ''
  } catch {
    return ''
  }
}

function grown<Numbers extends Float64Array | Uint32Array>(array: Numbers, more: Numbers): Numbers {
  more.set(array)
  return more
}
