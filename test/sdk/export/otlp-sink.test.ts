import http from 'node:http'
import v8 from 'node:v8'
import vm from 'node:vm'
import { gunzipSync } from 'node:zlib'
import type { SpanRecord } from '@homeground/sdk/trace'
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { decodeProtobufTraces } from '../../../collector/ingest/traces-protobuf.ts'
import { OtlpSender } from '../../../sdk/export/otlp-sender.ts'
import { OtlpSink } from '../../../sdk/export/otlp-sink.ts'
import { MemoryQueue } from '../../../sdk/export/piece-queue.ts'
import { noStats } from '../../../sdk/run/stats.ts'

type Answer = { status: number; headers?: Record<string, string>; body?: Uint8Array }
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  diag.disable()
})

/** Until the end of the test; gives its URL. */
async function listening(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** A collector that answers as told and keeps the names of the spans it took. */
async function collector(answer: (names: string[], request: http.IncomingMessage) => Answer) {
  const taken: string[][] = []
  const requests: http.IncomingMessage[] = []
  const url = await listening((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      requests.push(request)
      const body = Buffer.concat(parts)
      const names = decodeProtobufTraces(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).spans.map(
        (span) => span.name,
      )
      const { status, headers, body: text } = answer(names, request)
      if (status === 200) taken.push(names)
      response.writeHead(status, headers).end(text)
    })
  })
  return { url, taken, requests }
}

function sinkFor(endpoint: string, options: { maxQueueBytes?: number; compression?: 'gzip' | 'none'; maxBatchBytes?: number } = {}) {
  const stats = noStats()
  const { maxQueueBytes = 1024 * 1024, maxBatchBytes = 64 * 1024, compression = 'none' } = options
  const sender = new OtlpSender({ endpoint, apiKey: 'key-1', compression, timeoutMs: 2000, fetch, random: () => 0 })
  const queue = new MemoryQueue({ resource: { 'homeground.project': 'p' }, scope: { name: 's' } }, maxQueueBytes)
  const sink = new OtlpSink({ sender, queue, stats, maxBatchBytes, delayMs: 5 })
  closing.push(() => sink.shutdown(100))
  return { sink, stats, sender }
}

const span = (name: string, bytes = 10): SpanRecord => ({
  traceId: `${'0'.repeat(31)}1`,
  spanId: `${'0'.repeat(15)}1`,
  name,
  kind: 1,
  startTimeUnixNano: 1n,
  endTimeUnixNano: 2n,
  attributes: { body: 'x'.repeat(bytes) },
  status: { code: 0 },
  events: [],
  resource: {},
  scope: { name: 's' },
})

function warnings(): string[] {
  const said: string[] = []
  const none = () => undefined
  diag.setLogger(
    { error: none, warn: (message) => said.push(message), info: none, debug: none, verbose: none },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return said
}

describe('OtlpSink', () => {
  it('sends what waits in batches by bytes, in order, with the key', async () => {
    const c = await collector(() => ({ status: 200 }))
    const { sink, stats } = sinkFor(c.url)
    for (const name of ['a', 'b', 'c']) sink.add(span(name, 30_000))
    expect(await sink.flush(2000)).toBe(true)
    expect(c.taken).toEqual([['a', 'b'], ['c']])
    expect(c.requests[0]?.headers).toMatchObject({ authorization: 'Bearer key-1', 'content-type': 'application/x-protobuf' })
    expect(c.requests[0]?.headers['content-encoding']).toBeUndefined()
    expect(stats).toEqual({ ...noStats(), exported: 3 })
  })

  it('compresses where it is told to', async () => {
    const c = await collector(() => ({ status: 200 }))
    const { sink } = sinkFor(c.url, { compression: 'gzip' })
    sink.add(span('a', 10_000))
    await sink.flush(2000)
    expect(c.requests[0]?.headers['content-encoding']).toBe('gzip')
    expect(c.taken).toEqual([['a']])
  })

  it('goes on sending by itself', async () => {
    const c = await collector(() => ({ status: 200 }))
    sinkFor(c.url).sink.add(span('a'))
    await expect.poll(() => c.taken).toEqual([['a']])
  })

  it('drops what is newest when full, counts it, warns once, and says how many when there is room again', async () => {
    const said = warnings()
    let away = true
    const c = await collector(() => (away ? { status: 503 } : { status: 200 }))
    const { sink, stats } = sinkFor(c.url, { maxQueueBytes: 2500, maxBatchBytes: 100_000 })
    for (const name of ['a', 'b', 'c', 'd']) sink.add(span(name, 1000))
    expect(await sink.flush(500)).toBe(false)
    expect(stats).toMatchObject({ dropped: 2, queuedSpans: 2 })
    away = false
    expect(await sink.flush(2000)).toBe(true)
    expect(c.taken).toEqual([['a', 'b']])
    expect(stats).toMatchObject({ dropped: 2, queuedSpans: 0, queuedBytes: 0, exported: 2 })
    expect(said.filter((text) => text.includes('queue is full'))).toHaveLength(1)
    expect(said.filter((text) => text.includes('2 spans were dropped'))).toHaveLength(1)
  })

  it('honours Retry-After', async () => {
    const c = await collector(() => ({ status: 429, headers: { 'retry-after': '7' } }))
    const { sink, sender } = sinkFor(c.url)
    sink.add(span('a'))
    await sink.flush(500)
    expect(sender.waitMs()).toBeGreaterThan(6000)
    expect(sender.waitMs()).toBeLessThanOrEqual(7000)
  })

  it.each([
    { random: 0, waits: [250, 500, 1000, 2000] },
    { random: 1, waits: [500, 1000, 2000, 4000] },
  ])(
    'waits twice as long after each failure, at dice $random between half and all of it, half a minute at most; a success forgets them',
    async ({ random, waits }) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      onTestFinished(() => void vi.useRealTimers())
      let status = 503
      const answer = async () => new Response(null, { status })
      const sender = new OtlpSender({
        endpoint: 'http://away',
        apiKey: undefined,
        compression: 'none',
        timeoutMs: 50,
        fetch: answer,
        random: () => random,
      })
      const fail = async () => {
        expect(await sender.sendSpans(Buffer.of(1))).toEqual({ kind: 'retry' })
        return sender.waitMs()
      }
      for (const wait of waits) expect(await fail()).toBe(wait)
      for (let failure = 0; failure < 20; failure += 1) await fail()
      expect(await fail()).toBe(random === 0 ? 15_000 : 30_000)
      status = 200
      await sender.sendSpans(Buffer.of(1))
      status = 503
      expect(await fail()).toBe(waits[0])
    },
  )
  it('finds the one span that the collector refuses; its neighbours arrive', async () => {
    const c = await collector((names) => ({ status: names.includes('poison') ? 400 : 200 }))
    const { sink, stats } = sinkFor(c.url)
    for (const name of ['a', 'b', 'poison', 'c', 'd', 'e']) sink.add(span(name))
    expect(await sink.flush(2000)).toBe(false)
    expect(c.taken.flat()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(stats).toMatchObject({ exported: 5, rejected: 1, dropped: 0 })
  })

  it('counts what the collector says it rejected', async () => {
    const c = await collector(() => ({
      status: 200,
      headers: { 'content-type': 'application/x-protobuf' },
      body: new Uint8Array([0x0a, 2, 0x08, 1]),
    }))
    const { sink, stats } = sinkFor(c.url)
    for (const name of ['a', 'b']) sink.add(span(name))
    await sink.flush(2000)
    expect(stats).toMatchObject({ exported: 1, rejected: 1 })
  })

  it.each([
    { what: 'a key that it does not know', answer: { status: 401 }, advice: 'HOMEGROUND_API_KEY' },
    { what: 'nothing at this address', answer: { status: 404 }, advice: 'HOMEGROUND_ENDPOINT' },
    {
      what: 'a web page, which any server has for any request',
      answer: { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<!doctype html>') },
      advice: 'HOMEGROUND_ENDPOINT',
    },
  ])('does not try again where the answer is $what, and tells the process once', async ({ answer, advice }) => {
    const c = await collector(() => answer)
    const { sink, stats } = sinkFor(c.url)
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    for (const name of ['a', 'b']) {
      sink.add(span(name))
      expect(await sink.flush(2000)).toBe(false)
    }
    await new Promise(setImmediate)
    expect(c.requests).toHaveLength(2)
    expect(stats).toMatchObject({ exported: 0, rejected: 2, queuedSpans: 0 })
    expect(told).toEqual([expect.stringContaining(advice)])
  })

  it('reads no more of an answer than a collector says', async () => {
    let sent = 0
    const url = await listening((request, response) => {
      request.resume()
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    const { sink, stats } = sinkFor(url)
    sink.add(span('a'))
    expect(await sink.flush(1500)).toBe(true)
    expect(stats).toMatchObject({ exported: 1 })
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })

  it('takes a number of rejected spans that cannot be for none, or for all', async () => {
    for (const [said, expected] of [
      ['-5', { exported: 1, rejected: 0 }],
      ['99', { exported: 0, rejected: 1 }],
    ] as const) {
      const body = Buffer.from(JSON.stringify({ partialSuccess: { rejectedSpans: said } }))
      const c = await collector(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }))
      const { sink, stats } = sinkFor(c.url)
      sink.add(span('a'))
      await sink.flush(2000)
      expect(stats).toMatchObject(expected)
    }
  })

  it('finds the one feedback that the collector refuses; its neighbours arrive', async () => {
    const taken: string[] = []
    const url = await listening(async (request, response) => {
      let body = ''
      for await (const part of request) body += part
      const names = (JSON.parse(body) as { feedback: { name: string }[] }).feedback.map(({ name }) => name)
      const refused = names.includes('poison')
      if (!refused) taken.push(...names)
      response.writeHead(refused ? 400 : 200).end()
    })
    const { sink, stats } = sinkFor(url)
    for (const name of ['a', 'b', 'poison', 'c'])
      sink.addFeedback({ project: 'p', traceId: '1'.repeat(32), name, value: 1, source: 'user', at: '2026-12-02T00:00:00.000Z' })
    expect(await sink.flush(2000)).toBe(false)
    expect(taken).toEqual(['a', 'b', 'c'])
    expect(stats).toMatchObject({ droppedFeedback: 1, refusals: 3 })
  })

  it.each([429, 500, 503])('a flush asks a collector that answers %i again, within its time', async (status) => {
    let answers = 0
    const c = await collector(() => {
      answers += 1
      return { status: answers <= 2 ? status : 200 }
    })
    const { sink, stats } = sinkFor(c.url)
    sink.add(span('a'))
    expect(await sink.flush(20_000)).toBe(true)
    expect(c.taken).toEqual([['a']])
    expect(stats).toMatchObject({ exportErrors: 2, exported: 1, queuedSpans: 0 })
  })

  it('a flush does not wait for a Retry-After that is longer than its time', async () => {
    const c = await collector(() => ({ status: 503, headers: { 'retry-after': '60' } }))
    const { sink } = sinkFor(c.url)
    sink.add(span('a'))
    const start = performance.now()
    expect(await sink.flush(20_000)).toBe(false)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(c.requests).toHaveLength(1)
  })

  it('counts the feedback that a shutdown leaves behind', async () => {
    const { sink, stats } = sinkFor('http://127.0.0.1:9')
    for (const name of ['a', 'b'])
      sink.addFeedback({ project: 'p', traceId: '1'.repeat(32), name, value: 1, source: 'user', at: '2026-12-02T00:00:00.000Z' })
    expect(stats).toMatchObject({ queuedFeedback: 2, droppedFeedback: 0 })
    await sink.shutdown(1000)
    expect(stats).toMatchObject({ queuedFeedback: 0, droppedFeedback: 2, exportedFeedback: 0 })
  })

  it('goes on after a collector that never answers, though the garbage collector runs meanwhile', async () => {
    v8.setFlagsFromString('--expose-gc')
    const collect: () => void = vm.runInNewContext('gc')
    let hung = 0
    const taken: string[] = []
    const url = await listening((request, response) => {
      if (hung++ === 0) return
      request.resume().on('end', () => {
        taken.push('one')
        response.writeHead(200).end()
      })
    })
    const stats = noStats()
    const sender = new OtlpSender({ endpoint: url, apiKey: undefined, compression: 'none', timeoutMs: 400, fetch, random: () => 0 })
    const queue = new MemoryQueue({ resource: { 'homeground.project': 'p' }, scope: { name: 's' } }, 1024 * 1024)
    const sink = new OtlpSink({ sender, queue, stats, maxBatchBytes: 64 * 1024, delayMs: 5 })
    closing.push(() => sink.shutdown(100))
    sink.add(span('a'))
    await vi.waitFor(() => expect(hung).toBe(1))
    for (let turn = 0; turn < 5; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      collect()
    }
    await vi.waitFor(() => expect(taken).toEqual(['one']), { timeout: 5000 })
    expect(stats).toMatchObject({ exportErrors: 1 })
  })

  it('a flush that waits ends with a shutdown', async () => {
    const c = await collector(() => ({ status: 503 }))
    const { sink } = sinkFor(c.url)
    sink.add(span('a'))
    const flushed = sink.flush(20_000)
    await sink.shutdown(50)
    expect(await flushed).toBe(false)
  })

  it('a collector that is not there costs a flush one try, not its whole time', async () => {
    const { sink, stats } = sinkFor('http://127.0.0.1:9')
    sink.add(span('a'))
    const start = performance.now()
    expect(await sink.flush(20_000)).toBe(false)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(stats).toMatchObject({ exportErrors: 1, queuedSpans: 1 })
  })
})
