// A body that is refused while it is still being sent: the sender gets the answer, not a broken pipe, which it would take for a reason to send the same again.
import { randomBytes } from 'node:crypto'
import http from 'node:http'
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

/** Sends all of the body, whatever is answered meanwhile; what a sender sees. */
function send(url: URL, body: Buffer, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const request = http.request(new URL('/v1/traces', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    })
    request.once('response', (response) => {
      response.resume()
      response.once('end', () => resolve(`${response.statusCode} ${response.headers['retry-after'] ?? ''}`.trim()))
      response.once('error', (error) => resolve(error.message))
    })
    request.once('error', (error) => resolve(error.message))
    request.end(body)
  })
}

describe('a sender whose body is refused while it sends', { timeout: 60_000 }, () => {
  test('learns that it is too large, with its length said before or not, plain or compressed', async () => {
    const url = await started()
    const large = randomBytes(40 * megabyte)
    const long = { 'content-length': String(large.length) }
    for (const headers of [
      long,
      { 'transfer-encoding': 'chunked' },
      { ...long, 'content-encoding': 'gzip' },
      { 'transfer-encoding': 'chunked', 'content-encoding': 'deflate' },
    ]) {
      const packed = 'content-encoding' in headers
      const body = !packed
        ? large
        : headers['content-encoding'] === 'gzip'
          ? zlib.gzipSync(large, { level: 1 })
          : zlib.deflateSync(large, { level: 1 })
      const said = 'content-length' in headers ? { ...headers, 'content-length': String(body.length) } : headers
      expect([headers, await send(url, body, said)]).toEqual([headers, '413'])
    }
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
    expect(closedMs).toBeLessThan(15_000)
  })
})
