// JSON Lines files, compressed where the name ends in .gz: read as a stream with the line in every error, written whole or not at all.
import fs from 'node:fs'
import { finished } from 'node:stream/promises'
import zlib from 'node:zlib'
import { HomegroundError } from './error.ts'
import { removeLeftovers } from './leftovers.ts'
import { readTextLines } from './text-lines.ts'
import { errorText } from './thrown.ts'

/** One line of a JSON Lines file, parsed. */
export interface JsonLine {
  value: unknown
  /** From 1. */
  line: number
}

/** How a JSON Lines file is read. */
export interface ReadJsonLinesOptions {
  /**
   * What to do with a last line that has no line end and is not JSON, as a writer leaves it that was killed.
   * @default error
   */
  tornTail?: 'error' | 'skip'
}

/**
 * Every line that is not blank, parsed. Memory holds one chunk and one line.
 * @throws HomegroundError not-found; invalid-input with `file:line`
 */
export async function* readJsonLines(path: string, options: ReadJsonLinesOptions = {}): AsyncGenerator<JsonLine, void, void> {
  for await (const { text, line, whole } of readTextLines(path)) {
    if (text.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (cause) {
      if (!whole && options.tornTail === 'skip') return
      throw new HomegroundError('invalid-input', `${path}:${line}: not JSON: ${errorText(cause)}`, {
        hint: 'the file must hold one JSON value a line; mend or remove that line',
        cause,
      })
    }
    yield { value, line }
  }
}

/**
 * Writes a JSON Lines file. By default into a temporary file beside it that `close` renames: a reader sees the old file or the whole
 * new one. With `append`, each line is handed to the system at once, and a torn last line of a killed writer is cut off first.
 */
export class JsonLinesWriter {
  private readonly path: string
  private readonly target: string
  private readonly file: fs.WriteStream
  private readonly out: NodeJS.WritableStream
  private failure: unknown

  private constructor(path: string, target: string) {
    this.path = path
    this.target = target
    this.file = fs.createWriteStream(target, { flags: target === path ? 'a' : 'w' })
    if (path.endsWith('.gz')) {
      const gzip = zlib.createGzip()
      gzip.pipe(this.file)
      this.out = gzip
    } else this.out = this.file
    this.file.on('error', (error: NodeJS.ErrnoException) => {
      // A write that fails does not say of which file.
      error.path ??= path
      this.failure = error
    })
  }

  /** @throws HomegroundError invalid-argument: appending to a .gz file, whose torn end could not be told from its middle */
  static async open(path: string, options: { append?: boolean } = {}): Promise<JsonLinesWriter> {
    if (options.append !== true) {
      removeLeftovers(path)
      return new JsonLinesWriter(path, `${path}.${process.pid}.tmp`)
    }
    if (path.endsWith('.gz')) {
      throw new HomegroundError('invalid-argument', `${path}: a compressed file cannot be appended to`, {
        hint: 'append to a plain .jsonl file',
      })
    }
    await cutTornTail(path)
    return new JsonLinesWriter(path, path)
  }

  /** Resolves when the stream takes more; with `append`, when the system has the line. @throws what the disk says */
  async write(value: unknown): Promise<void> {
    await this.writeText(JSON.stringify(value))
  }

  /** One line that is JSON text already. */
  async writeText(line: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    const appends = this.target === this.path
    let flowing = true
    const promise = new Promise<void>((resolve, reject) => {
      flowing = this.out.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
    })
    if (appends) return await promise
    promise.catch((error) => {
      this.failure ??= error
    })
    if (!flowing) await promise
  }

  /** Resolves when every line is on the disk under the file's own name. */
  async close(): Promise<void> {
    try {
      this.out.end()
      await finished(this.file)
      if (this.failure !== undefined) throw this.failure
      await sync(this.target)
      if (this.target !== this.path) await fs.promises.rename(this.target, this.path)
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  /** Leaves the file as it was before `open`; appended lines stay. */
  async abort(): Promise<void> {
    this.file.destroy()
    await finished(this.file).catch(() => {})
    if (this.target !== this.path) await fs.promises.rm(this.target, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  const handle = await fs.promises.open(path, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Cuts the file back to its last line end. */
async function cutTornTail(path: string): Promise<void> {
  let handle: fs.promises.FileHandle
  try {
    handle = await fs.promises.open(path, 'r+')
  } catch {
    return
  }
  try {
    const { size } = await handle.stat()
    const block = Buffer.alloc(64 * 1024)
    let end = size
    while (end > 0) {
      const start = Math.max(0, end - block.length)
      const { bytesRead } = await handle.read(block, 0, end - start, start)
      const at = block.subarray(0, bytesRead).lastIndexOf(0x0a)
      if (at >= 0) {
        end = start + at + 1
        break
      }
      end = start
    }
    if (end < size) await handle.truncate(end)
  } finally {
    await handle.close()
  }
}
