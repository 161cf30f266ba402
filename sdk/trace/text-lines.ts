// A text file line by line, decompressed where its name ends in .gz: memory holds one chunk and one line, and bytes that are not UTF-8 are told with their line.
import { isUtf8 } from 'node:buffer'
import fs from 'node:fs'
import zlib from 'node:zlib'
import { HomegroundError } from './error.ts'
import { errorText, isError } from './thrown.ts'

/** Every line as text, blank ones too; `whole` tells whether it has a line end. @throws HomegroundError not-found, invalid-input */
export async function* readTextLines(path: string): AsyncGenerator<{ text: string; line: number; whole: boolean }, void, void> {
  let line = 0
  let pieces: string[] = []
  try {
    for await (const chunk of textChunks(path)) {
      let start = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
        pieces.push(chunk.slice(start, end))
        line += 1
        yield { text: withoutMark(pieces.join(''), line), line, whole: true }
        pieces = []
        start = end + 1
      }
      if (start < chunk.length) pieces.push(chunk.slice(start))
    }
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error
    throw new HomegroundError('invalid-input', `${path}:${line + 1}: not UTF-8 text`, {
      hint: 'save the file in UTF-8 (iconv -f … -t UTF-8); in another encoding its text would be stored changed',
    })
  }
  if (pieces.length > 0) yield { text: withoutMark(pieces.join(''), line + 1), line: line + 1, whole: false }
}

/** Whole characters, chunk by chunk. @throws HomegroundError not-found, invalid-input; NotUtf8 after all lines that can be read */
async function* textChunks(path: string): AsyncGenerator<string> {
  const file = fs.createReadStream(path)
  const bytes = path.endsWith('.gz') ? file.pipe(zlib.createGunzip()) : file
  // `pipe` does not hand errors on.
  if (bytes !== file) file.on('error', (error) => bytes.destroy(error))
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = wholeCharacters(joined)
      rest = joined.subarray(end)
      yield* checkedText(joined.subarray(0, end))
    }
    // Half a character at the end is a torn line: whoever reads it knows what to do with one.
    if (rest.length > 0) yield rest.toString('utf8')
  } catch (cause) {
    throw cause instanceof NotUtf8 ? cause : readError(path, cause)
  } finally {
    file.destroy()
  }
}

class NotUtf8 extends Error {}

/** The text; where a byte of it is not UTF-8, the lines before that one, and then the error. */
function* checkedText(bytes: Buffer): Generator<string> {
  const text = bytes.toString('utf8')
  // The mark that stands for what cannot be read may also be meant.
  if (!text.includes('\ufffd') || isUtf8(bytes)) {
    yield text
    return
  }
  for (let start = 0; ; ) {
    const end = bytes.indexOf(0x0a, start) + 1
    const line = bytes.subarray(start, end === 0 ? bytes.length : end)
    if (!isUtf8(line)) throw new NotUtf8()
    yield line.toString('utf8')
    start = end
  }
}

/** Where the last character that is whole ends: a chunk may end within one. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function readError(path: string, cause: unknown): HomegroundError {
  const message = errorText(cause)
  const code = isError(cause) && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOENT') {
    return new HomegroundError('not-found', `${path} does not exist`, {
      hint: 'check the path; it is relative to the current folder',
      cause,
    })
  }
  if (code.startsWith('Z_')) {
    return new HomegroundError('invalid-input', `${path}: not a whole gzip file: ${message}`, {
      hint: 'copy the file again, or drop .gz from its name if it is not compressed',
      cause,
    })
  }
  return new HomegroundError('invalid-input', `${path} cannot be read: ${message}`, { hint: 'give a readable file', cause })
}

function withoutMark(text: string, line: number): string {
  return line === 1 && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
