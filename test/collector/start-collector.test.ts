import http from 'node:http'
import zlib from 'node:zlib'
import type { SpanRow } from '@homeground/sdk/trace'
import { HomegroundError } from '@homeground/sdk/trace'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, type CollectorOptions, directQueue, type Queue, startCollector } from '../../collector/index.ts'
import type { Store } from '../../store/index.ts'
import { collectorOn, memoryLog } from '../support/collector.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { epoch, type PlainSpan, postTraces, protobufTraces } from '../support/otlp.ts'
import { spanId, traceId } from '../support/span-rows.ts'
import { until } from '../support/until.ts'

const open: Collector[] = []
afterEach(async () => {
  for (const collector of open.splice(0)) await collector.close(1_000)
})

/** A queue that keeps rows in memory, or does with them what the test says. */
function fakeQueue(publish: (rows: readonly SpanRow[]) => Promise<void> = async () => {}): Queue & { rows: SpanRow[] } {
  const rows: SpanRow[] = []
  return {
    rows,
    publishSpans: async (given) => {
      await publish(given)
      rows.push(...given)
    },
    publishFeedback: async () => {},
    ready: async () => true,
    close: async () => {},
  }
}

async function start(queue: Queue, options: Partial<CollectorOptions> = {}): Promise<Collector> {
  const collector = await startCollector({ queue, log: memoryLog(), port: 0, ...options })
  open.push(collector)
  return collector
}

function spans(count: number, given: Partial<PlainSpan> = {}): PlainSpan[] {
  return Array.from({ length: count }, (_, n) => ({ traceId: traceId(1), spanId: spanId(n + 1), ...given }))
}

describe('the collector', { timeout: 60_000 }, () => {
  test('takes what a sender gzips or deflates', async () => {
    const queue = fakeQueue()
    const { url } = await start(queue)
    const body = protobufTraces(spans(3))
    expect((await postTraces(url, zlib.gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(200)
    expect((await postTraces(url, zlib.deflateSync(body), { 'content-encoding': 'deflate' })).status).toBe(200)
    expect(queue.rows.length).toBe(6)
  })

  test('refuses compression that is broken with 400 and stays up', async () => {
    const queue = fakeQueue()
    const { url } = await start(queue)
    expect((await postTraces(url, Buffer.from('no gzip'), { 'content-encoding': 'gzip' })).status).toBe(400)
    expect((await postTraces(url, zlib.gzipSync(protobufTraces(spans(3))).subarray(0, 40), { 'content-encoding': 'gzip' })).status).toBe(
      400,
    )
    expect((await postTraces(url, protobufTraces(spans(1)))).status).toBe(200)
  })

  test('refuses a body over the limit with 413, measured after opening, before it is all there', async () => {
    const queue = fakeQueue()
    const { url } = await start(queue, { maxBodyBytes: 100_000 })
    const bomb = zlib.gzipSync(Buffer.alloc(60 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(300_000)
    const before = process.memoryUsage().rss
    expect((await postTraces(url, bomb, { 'content-encoding': 'gzip' })).status).toBe(413)
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024)
    expect((await postTraces(url, protobufTraces(spans(1, { attributes: { big: 'x'.repeat(100_000) } })))).status).toBe(413)
    expect((await postTraces(url, protobufTraces(spans(1, { attributes: { big: 'x'.repeat(90_000) } })))).status).toBe(200)
  })

  test('says 429 with Retry-After when it holds as many bytes as it may, and takes more once they are gone', async () => {
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let waiting = 0
    const { url } = await start(
      fakeQueue(async () => {
        waiting += 1
        await held
      }),
      { maxBytesInFlight: 250_000 },
    )
    const body = protobufTraces(spans(1, { attributes: { big: 'x'.repeat(100_000) } }))
    const taken = [postTraces(url, body), postTraces(url, body)]
    await until(
      () => waiting === 2,
      () => `${waiting} requests wait`,
    )
    expect(await postTraces(url, body)).toMatchObject({ status: 429, retryAfter: '1' })
    letGo()
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200])
    expect((await postTraces(url, body)).status).toBe(200)
  })

  test('is not ready for a while once its store has refused rows, though the store answers', async () => {
    let clock = 0
    let isFull = true
    const full = new HomegroundError('store-unavailable', 'No space left on device', { hint: 'x', retryable: true })
    const store = {
      insertSpans: () => (isFull ? Promise.reject(full) : Promise.resolve()),
      insertFeedback: () => Promise.resolve(),
      ping: () => Promise.resolve(true),
    }
    const { url } = await start(directQueue(store, () => clock))
    const ready = async () => (await fetch(`${url}/readyz`)).status
    expect(await ready()).toBe(200)
    expect(await postTraces(url, protobufTraces(spans(1)))).toMatchObject({ status: 503, retryAfter: '2' })
    expect(await ready()).toBe(503)
    clock = 10_001
    expect(await ready()).toBe(200)
    expect((await postTraces(url, protobufTraces(spans(1)))).status).toBe(503)
    expect(await ready()).toBe(503)
    isFull = false
    expect((await postTraces(url, protobufTraces(spans(1)))).status).toBe(200)
    expect(await ready()).toBe(200)
  })

  test('refuses a span nested too deeply, or with a project of a long name, by itself and with the reason', async () => {
    const queue = fakeQueue()
    const { url } = await start(queue)
    const nested = (depth: number): object => (depth === 0 ? { stringValue: 'x' } : { arrayValue: { values: [nested(depth - 1)] } })
    let deep = '{"stringValue":"x"}'
    for (let n = 0; n < 5_000; n++) deep = `{"arrayValue":{"values":[${deep}]}}`
    const span = (id: number, value: string) =>
      `{"traceId":"${traceId(1)}","spanId":"${spanId(id)}","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"a","value":${value}}]}`
    const body = (project: string, ...given: string[]) =>
      Buffer.from(
        `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"${project}"}}]},"scopeSpans":[{"spans":[${given.join(',')}]}]}]}`,
      )
    const json = { 'content-type': 'application/json' }
    const answer = await postTraces(url, body('shop', span(1, deep), span(2, JSON.stringify(nested(60)))), json)
    expect([answer.status, answer.body.toString()]).toEqual([
      200,
      '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"1 refused: attribute values are nested more than 64 deep (1)"}}',
    ])
    const long = await postTraces(url, body('p'.repeat(201), span(3, '{"intValue":"1"}')), json)
    expect([long.status, long.body.toString()]).toEqual([
      200,
      '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"1 refused: the project\'s name is longer than 200 characters (1)"}}',
    ])
    expect(queue.rows.map((row) => row.spanId)).toEqual([spanId(2)])
  })

  test.each([
    [{ project: 'shop', traceId: 'x', name: 'thumb', value: true }, 'traceId: 32 hex digits'],
    [{ feedback: [{ project: 'shop', traceId: traceId(1), name: '', value: true }] }, 'feedback.0.name: '],
    [{ project: 'p'.repeat(201), traceId: traceId(1), name: 'thumb', value: true }, 'project: at most 200 characters'],
  ])('says of feedback %# which field is at fault', async (body, fault) => {
    const { url } = await start(fakeQueue())
    const response = await fetch(`${url}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(fault)
  })

  test('refuses by itself what stands in a span’s place and is none, and takes the others, whatever their numbers look like', async () => {
    const queue = fakeQueue()
    const { url } = await start(queue)
    const good = (n: number, times: string) => `{"traceId":"${traceId(1)}","spanId":"${spanId(n)}",${times}}`
    const wrong = ['null', '7', '[]', '"span"', good(9, '"startTimeUnixNano":"NaN"'), good(9, '"startTimeUnixNano":-1764600000000000000')]
    const right = [
      good(1, '"startTimeUnixNano":1764600000000000001,"endTimeUnixNano": 1764600000000000003'),
      // A fraction, and an exponent, behind as many digits as a time has.
      good(2, '"startTimeUnixNano":1764600000000000000.5,"endTimeUnixNano":1764600000000000000e0'),
      good(3, '"startTimeUnixNano":1.7646e18,"attributes":[{"key":"n","value":{"intValue":1764600000000000000.0}}]'),
      good(4, '"startTimeUnixNano":"9223372036854775807"'),
    ]
    const send = async (route: string, body: string) => {
      const response = await fetch(`${url}/v1/${route}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return { status: response.status, ...Object(await response.json()) }
    }
    expect(await send('traces', `{"resourceSpans":[{"scopeSpans":[{"spans":[${[...wrong, ...right].join(',')}]}]}]}`)).toEqual({
      status: 200,
      partialSuccess: { rejectedSpans: '6', errorMessage: expect.stringContaining('expected a JSON object (4)') },
    })
    expect(queue.rows.map((row) => [row.spanId, row.startTimeUnixNano])).toEqual([
      [spanId(1), 1764600000000000001n],
      [spanId(2), 1764600000000000000n],
      [spanId(3), 1764600000000000000n],
      [spanId(4), 9223372036854775807n],
    ])
    expect(queue.rows.map((row) => row.attributes['n'])).toEqual([undefined, undefined, '1764600000000000000', undefined])
    expect(await send('logs', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[null,{}]}]}]}')).toEqual({
      status: 200,
      partialSuccess: { rejectedLogRecords: '1', errorMessage: '1 refused: expected a JSON object (1)' },
    })
  })

  test('says 503 with Retry-After when the store is away, never 200', async () => {
    const away = new HomegroundError('store-unavailable', 'ClickHouse does not answer', { hint: 'x', retryable: true })
    const { url } = await start(fakeQueue(() => Promise.reject(away)))
    expect(await postTraces(url, protobufTraces(spans(1)))).toMatchObject({ status: 503, retryAfter: '2' })
  })

  test('finishes what it has taken when it goes down, and takes nothing new', async () => {
    let letGo = (): void => {}
    let waiting = 0
    const queue = fakeQueue(() => {
      waiting += 1
      return new Promise((resolve) => {
        letGo = resolve
      })
    })
    const collector = await start(queue)
    const answer = postTraces(collector.url, protobufTraces(spans(2)))
    await until(
      () => waiting === 1,
      () => `${waiting} requests wait`,
    )
    const closed = collector.close(5_000)
    await expect(postTraces(collector.url, protobufTraces(spans(1)))).rejects.toThrow()
    letGo()
    expect((await answer).status).toBe(200)
    expect(await closed).toBe(true)
    expect(queue.rows.length).toBe(2)
  })

  test('cuts off what is still under way when the deadline passes, and says so', async () => {
    let waiting = 0
    // As a store that does not answer: neither the rows nor the end of the queue come to anything.
    const publish = () => new Promise<void>(() => void waiting++)
    const collector = await start({ ...fakeQueue(publish), close: () => new Promise(() => {}) })
    const answer = postTraces(collector.url, protobufTraces(spans(1))).catch(() => 'cut off')
    await until(
      () => waiting === 1,
      () => `${waiting} requests wait`,
    )
    expect(await collector.close(200)).toBe(false)
    expect(await answer).toBe('cut off')
  })

  test('names the port when another process has it', async () => {
    const other = http.createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(start(fakeQueue(), { port })).rejects.toMatchObject({
      code: 'port-in-use',
      message: expect.stringContaining(String(port)),
    })
    other.close()
  })

  test('listens beyond loopback for nobody without keys', async () => {
    await expect(start(fakeQueue(), { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'invalid-settings' })
  })

  test('answers health, readiness, unknown paths and wrong methods', async () => {
    const { url } = await start({ ...fakeQueue(), ready: async () => false })
    const get = async (path: string, method = 'GET') => (await fetch(url + path, { method })).status
    expect([await get('/healthz'), await get('/readyz'), await get('/nothing'), await get('/v1/traces')]).toEqual([200, 503, 404, 405])
  })

  test('refuses feedback that is none, naming the field, and takes what is', async () => {
    const { url } = await start(fakeQueue())
    const post = async (body: unknown) => {
      const response = await fetch(`${url}/v1/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, text: await response.text() }
    }
    const good = { project: 'p', traceId: traceId(1), name: 'thumb', value: true, source: 'user', at: '2026-01-01T00:00:00Z' }
    expect((await post({ feedback: [good, { ...good, value: 0.5, stepId: spanId(1) }] })).status).toBe(200)
    const bad = await post({ feedback: [good, { ...good, traceId: 'xyz' }] })
    expect(bad.status).toBe(400)
    expect(bad.text).toContain('traceId')
  })
})

describe.skipIf(engineIsMissing)('the collector on a store', { timeout: 120_000 }, () => {
  const engine = useEngine()
  let store: Store
  beforeAll(async () => {
    if (!engineIsMissing) store = await engine.openStore()
  })

  test('stores 499 of 500 spans and reports the one that cannot be', async () => {
    const { url } = await collectorOn(store).then((collector) => {
      open.push(collector)
      return collector
    })
    const poisoned = spans(500, { traceId: traceId(0x500) }).map((span, n) => (n === 250 ? { ...span, spanId: '00' } : span))
    const answer = await postTraces(url, protobufTraces(poisoned))
    expect(answer.status).toBe(200)
    expect(answer.body.toString()).toContain('1 refused: span id is not 8 bytes other than zero (1)')
    expect((await store.spans('shop', [traceId(0x500)])).length).toBe(499)
  })

  test('keeps spans with hostile names and attributes as data', async () => {
    const collector = await collectorOn(store)
    open.push(collector)
    const hostile = {
      'homeground.tag.__proto__': 'polluted',
      'homeground.tag.constructor': '<script>alert(1)</script>',
      'homeground.tag.sql': "'; DROP TABLE spans; --",
      'homeground.tag.path': '../../etc/passwd',
      'homeground.tag.ansi': '\u001b[31mred\u0007',
      __proto__x: 'y',
    }
    const name = "\u001b]0;title\u0007<img src=x onerror=1> $ {jndi:ldap://x} '); --"
    expect(
      (await postTraces(collector.url, protobufTraces([{ traceId: traceId(0x600), spanId: spanId(1), name, attributes: hostile }]))).status,
    ).toBe(200)
    const [row] = await store.spans('shop', [traceId(0x600)])
    expect(row?.name).toBe(name)
    expect(row?.tags['sql']).toBe("'; DROP TABLE spans; --")
    expect(row?.tags['constructor']).toBe('<script>alert(1)</script>')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((await store.counts('shop')).length).toBe(1)
  })

  test('assembles a trace of ten thousand spans that came in any order', async () => {
    const collector = await collectorOn(store)
    open.push(collector)
    const agent: PlainSpan = {
      traceId: traceId(0x700),
      spanId: spanId(1),
      name: 'invoke_agent a',
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
    }
    const tools = Array.from(
      { length: 9_999 },
      (_, n): PlainSpan => ({
        traceId: traceId(0x700),
        spanId: spanId(n + 2),
        parentSpanId: spanId(n % 100 === 0 ? 1 : n + 1),
        start: epoch + BigInt(n) * 1_000n,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': `t${n}` },
      }),
    )
    const reversed = [...tools.reverse(), agent]
    for (let at = 0; at < reversed.length; at += 2_500)
      expect((await postTraces(collector.url, protobufTraces(reversed.slice(at, at + 2_500)))).status).toBe(200)
    const [episode, ...others] = await store.episode('shop', traceId(0x700))
    expect(others).toEqual([])
    expect(episode?.steps.length).toBe(9_999)
    expect(episode?.steps[5_000]).toMatchObject({ kind: 'tool', name: 't5000' })
  })
})
