// Where each line of a JSON Lines file stands: so that one can be read without holding the file. One pass over the bytes also gives the file's hash.

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
  const hash = createHash('sha256')
  let size = 0
  let starts = new Float64Array(1024)
  let lengths = new Float64Array(1024)
  let lines = new Float64Array(1024)
  let lineNumber = 0
  let pieces: Buffer[] = []
  let start = 0
  let at = 0

  const add = (bytes: Buffer): void => {
    lineNumber += 1
    if (!take(bytes, lineNumber)) return
    if (size === starts.length) {
      starts = grown(starts)
      lengths = grown(lengths)
      lines = grown(lines)
    }
    starts[size] = start
    lengths[size] = bytes.length
    lines[size] = lineNumber
    size += 1
  }

  try {
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
  } catch (error) {
    await handle.close()
    throw error
  }

  const blocks: Buffer[] = []
  return {
    hash: hash.digest('hex'),
    size,
    async read(index) {
      const length = lengths[index] ?? 0
      const spare = blocks.pop()
      const block = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafeSlow(Math.max(length, 1 << 14))
      await handle.read(block, 0, length, starts[index] ?? 0)
      const text = block.toString('utf8', 0, length)
      if (blocks.length < keptBlocks) blocks.push(block)
      return text
    },
    line: (index) => lines[index] ?? 0,
    close: () => handle.close(),
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

function grown(array: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(array.length * 2)
  more.set(array)
  return more
}
