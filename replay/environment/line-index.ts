// Where each line of a JSON Lines file stands, by its id: so that one can be read without holding the file. One pass over the bytes also gives the file's hash.

import { createHash } from 'node:crypto'
import fs from 'node:fs'

export interface LineIndex {
  /** sha256 of the bytes. */
  hash: string
  ids: string[]
  /** Position in `ids`. */
  position: Map<string, number>
  /** The text of the line at this position. */
  read(position: number): Promise<string>
  /** Line number in the file, from 1. */
  line(position: number): number
  close(): Promise<void>
}

/** Where an id is found without parsing the line, as the files we write begin. */
const leading = {
  id: /^\{"id":"([^"\\]*)"/,
  task: /^\{"task":"([^"\\]*)"/,
  episode: /^\{"format":1,"id":"([^"\\]*)"/,
} as const

/**
 * Ids come from the member `key` (`episode`: the member `id` of an episode's line), or from a function of the parsed line.
 * A line that is not JSON, or has no such member, gets the id `''`: reading it tells what is wrong.
 * @throws the file system's error
 */
export async function indexLines(path: string, key: keyof typeof leading | ((value: unknown) => string | undefined)): Promise<LineIndex> {
  const handle = await fs.promises.open(path, 'r')
  const hash = createHash('sha256')
  const ids: string[] = []
  const position = new Map<string, number>()
  let starts = new Float64Array(1024)
  let lengths = new Float64Array(1024)
  let lines = new Float64Array(1024)
  let lineNumber = 0
  let pieces: Buffer[] = []
  let start = 0
  let at = 0

  const add = (bytes: Buffer): void => {
    lineNumber += 1
    const id = idOf(bytes, key)
    if (id === undefined) return
    if (ids.length === starts.length) {
      starts = grown(starts)
      lengths = grown(lengths)
      lines = grown(lines)
    }
    starts[ids.length] = start
    lengths[ids.length] = bytes.length
    lines[ids.length] = lineNumber
    if (!position.has(id)) position.set(id, ids.length)
    ids.push(id)
  }

  try {
    for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
      hash.update(bytes)
      let from = 0
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        pieces.push(bytes.subarray(from, end))
        add(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces))
        pieces = []
        from = end + 1
        start = at + from
      }
      if (from < bytes.length) pieces.push(bytes.subarray(from))
      at += bytes.length
    }
    if (pieces.length > 0) add(Buffer.concat(pieces))
  } catch (error) {
    await handle.close()
    throw error
  }

  return {
    hash: hash.digest('hex'),
    ids,
    position,
    async read(index) {
      const buffer = Buffer.alloc(lengths[index] ?? 0)
      await handle.read(buffer, 0, buffer.length, starts[index] ?? 0)
      return buffer.toString('utf8')
    },
    line: (index) => lines[index] ?? 0,
    close: () => handle.close(),
  }
}

/** `undefined` for a blank line. */
function idOf(bytes: Buffer, key: Parameters<typeof indexLines>[1]): string | undefined {
  if (typeof key === 'string') {
    const found = leading[key].exec(bytes.toString('latin1', 0, Math.min(bytes.length, 300)))?.[1]
    // Ids beyond ASCII are read from the text. A copy: what was matched would keep all of the text alive that it was matched in.
    if (found !== undefined && /^[\x20-\x7e]*$/.test(found)) return Buffer.from(found, 'latin1').toString('latin1')
  }
  const text = bytes.toString('utf8')
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof key === 'function') return key(value) ?? ''
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
