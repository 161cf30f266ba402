// Reads a request's body, opened where it is compressed, under two bounds: the size of one body, and the bytes that all requests hold together.
// Both are looked at chunk by chunk, so a decompression bomb is refused while it unfolds.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import zlib from 'node:zlib'
import type { ByteBudget } from './byte-budget.ts'
import { HttpProblem } from './problem.ts'

export interface Body {
  bytes: Buffer
  /** Gives the bytes back to the budget. Once. */
  release(): void
}

/** @throws HttpProblem 400 (broken compression), 413, 415 (encoding), 429 (budget) */
export async function readBody(request: IncomingMessage, options: { maxBytes: number; budget: ByteBudget }): Promise<Body> {
  const { maxBytes, budget } = options
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const opener = openerOf(encoding)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)

  const chunks: Buffer[] = []
  let length = 0
  try {
    // The request itself is never destroyed: its connection would go with it, and the sender would learn no reason and send all of it again.
    for await (const chunk of opened(request, opener).iterator({ destroyOnReturn: false })) {
      const bytes: Buffer = chunk
      if (length + bytes.length > maxBytes) throw tooLarge(maxBytes)
      if (!budget.take(bytes.length)) throw new HttpProblem(429, 'the collector is busy; send it again later', { retryAfterSeconds: 1 })
      length += bytes.length
      chunks.push(bytes)
    }
  } catch (error) {
    budget.give(length)
    if (opener !== undefined) {
      request.unpipe(opener)
      opener.destroy()
    }
    if (error instanceof HttpProblem) throw error
    throw new HttpProblem(400, encoding === 'identity' ? 'the body ended early' : `the body is not ${encoding}`)
  }
  return { bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks), release: () => budget.give(length) }
}

function openerOf(encoding: string): zlib.Gunzip | zlib.Inflate | undefined {
  switch (encoding) {
    case 'identity':
    case '':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip()
    case 'deflate':
      return zlib.createInflate()
    default:
      throw new HttpProblem(415, 'content-encoding must be gzip, deflate or identity')
  }
}

/** What comes out of the opener; a sender that leaves ends it. */
function opened(request: IncomingMessage, opener: zlib.Gunzip | zlib.Inflate | undefined): Readable {
  if (opener === undefined) return request
  request.once('close', () => {
    if (!request.complete) opener.destroy(new Error('the sender has left'))
  })
  return request.pipe(opener)
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, `the body is larger than ${maxBytes} bytes`)
}
