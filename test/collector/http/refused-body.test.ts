// A body that is refused while it is still being sent: the sender gets the answer, not a broken pipe, which it would take for a reason to send the same again.
import { randomBytes } from 'node:crypto'
import net from 'node:net'
import zlib from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { type Collector, startCollector } from '../../../collector/index.ts'
import { memoryLog } from '../../support/collector.ts'

const megabyte = 1024 * 1024
let collector: Collector | undefined
afterEach(() => collector?.close())

async function started(options: { maxBodyBytes?: number; maxBytesInFlight?: number } = {}): Promise<URL> {
  const queue = {
    publishSpans: () => Promise.resolve(),
    publishFeedback: () => Promise.resolve(),
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  }
  collector = await startCollector({ queue, log: memoryLog(), port: 0, maxBodyBytes: megabyte, ...options })
  return new URL(collector.url)
}

/** As most exporters do; what the sender sees. */
async function send(url: URL, body: Buffer, headers: Record<string, string>): Promise<string> {
  const { isChunked, ...sent } = headers
  // A stream has no length to say before.
  const given = isChunked === undefined ? body : new Blob([body]).stream()
  try {
    const response = await fetch(new URL('/v1/traces', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...sent },
      body: given,
      duplex: 'half',
    })
    await response.arrayBuffer()
    return `${response.status} ${response.headers.get('retry-after') ?? ''}`.trim()
  } catch (error) {
    return error instanceof Error ? String(error.cause ?? error.message) : String(error)
  }
}

describe('a sender whose body is refused while it sends', { timeout: 60_000 }, () => {
  test('learns that it is too large, with its length said before or not, plain or compressed', async () => {
    const url = await started()
    const large = randomBytes(40 * megabyte)
    const packed = { gzip: zlib.gzipSync(large, { level: 1 }), deflate: zlib.deflateSync(large, { level: 1 }) }
    const answers: Record<string, string> = {}
    for (const isChunked of [false, true]) {
      const length = isChunked ? { isChunked: 'yes' } : {}
      answers[`plain ${isChunked}`] = await send(url, large, { ...length })
      for (const encoding of ['gzip', 'deflate'] as const)
        answers[`${encoding} ${isChunked}`] = await send(url, packed[encoding], { 'content-encoding': encoding, ...length })
    }
    expect(answers).toEqual({
      'plain false': '413',
      'gzip false': '413',
      'deflate false': '413',
      'plain true': '413',
      'gzip true': '413',
      'deflate true': '413',
    })
  })

  test('learns that the collector is busy, and that the encoding is not understood', async () => {
    const url = await started({ maxBodyBytes: 64 * megabyte, maxBytesInFlight: 2 * megabyte })
    expect(await send(url, randomBytes(20 * megabyte), {})).toBe('429 1')
    expect(await send(url, randomBytes(20 * megabyte), { 'content-encoding': 'br' })).toBe('415')
    expect(await send(url, randomBytes(20 * megabyte), { 'content-type': 'text/plain' })).toBe('415')
    // What was refused is held no longer.
    expect(await send(url, Buffer.from('{}'), {})).toBe('200')
  })

  test('and never comes to its end is answered at once, and let go', async () => {
    const { port } = await started()
    const socket = net.connect(Number(port), '127.0.0.1')
    const begun = performance.now()
    let answeredMs = 0
    let text = ''
    const closed = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now() - begun)))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      answeredMs ||= performance.now() - begun
      text += String(chunk)
    })
    socket.write(
      `POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{`,
    )
    const closedMs = await closed
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*is larger than 1048576 bytes"}$/)
    expect(answeredMs).toBeLessThan(2_000)
    // A connection that closes with the answer takes it along, where the sender is another process and still writing: seen as EPIPE.
    expect(closedMs).toBeGreaterThan(4_000)
    expect(closedMs).toBeLessThan(15_000)
  })
})
