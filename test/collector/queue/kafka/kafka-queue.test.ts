import fs from 'node:fs'
import { HomegroundError } from '@homeground/sdk/trace'
import kafkajs from 'kafkajs'
import { afterEach, describe, expect, test } from 'vitest'
import { openKafkaQueue } from '../../../../collector/queue/kafka/index.ts'
import type { KafkaOptions } from '../../../../collector/queue/kafka/options.ts'
import { encodeRows } from '../../../../collector/queue/kafka/payload.ts'
import type { Queue } from '../../../../collector/queue/types.ts'
import { memoryLog } from '../../../support/collector.ts'
import { kafkaIsMissing, useKafka } from '../../../support/kafka.ts'
import { kafkaOptionsFor, lagOf, memoryStore, metricOf } from '../../../support/kafka-queue.ts'
import { spanId, spanRow, traceId } from '../../../support/span-rows.ts'
import { until } from '../../../support/until.ts'

const open: Queue[] = []
afterEach(async () => {
  for (const queue of open.splice(0)) await queue.close()
})

async function start(kafka: KafkaOptions, store?: ReturnType<typeof memoryStore>, log = memoryLog()): Promise<Queue> {
  const queue = await openKafkaQueue({ kafka, log, ...(store === undefined ? {} : { store }) })
  open.push(queue)
  return queue
}

describe.skipIf(kafkaIsMissing)('the Kafka queue', { timeout: 120_000 }, () => {
  const broker = useKafka()
  const options = (given: Partial<KafkaOptions> = {}) => kafkaOptionsFor(broker.address, broker.name('rows'), given)

  test('carries rows and feedback from a receiver to an ingester as they were', async () => {
    const kafka = options()
    const receiver = await start(kafka)
    const rows = Array.from({ length: 40 }, (_, n) =>
      spanRow({
        traceId: traceId(n % 7),
        spanId: spanId(n + 1),
        requestBody: `{"n":${n},"nul":"\u0000","text":"Grüße 🏡"}`,
        tags: { n: String(n) },
      }),
    )
    await receiver.publishSpans(rows, 1)
    await receiver.publishFeedback([
      {
        project: 'shop',
        traceId: traceId(1),
        stepId: '',
        name: 'thumb',
        value: true,
        comment: '',
        source: 'user',
        at: '2026-01-01T00:00:00.000Z',
      },
    ])
    const store = memoryStore()
    const ingester = await start(kafka, store)
    await until(
      () => store.spans.length >= 40 && store.feedback.length >= 1,
      () => `${store.spans.length} spans, ${store.feedback.length} feedback`,
      60_000,
    )
    const bySpan = (one: { spanId: string }, other: { spanId: string }) => (one.spanId < other.spanId ? -1 : 1)
    expect(store.spans.map(({ receivedAt: _, ...row }) => row).sort(bySpan)).toEqual([...rows].sort(bySpan))
    expect(store.feedback[0]).toMatchObject({ name: 'thumb', value: true })
    const versions = store.spans.map(({ receivedAt }) => receivedAt)
    expect(new Set(versions).size).toBe(40)
    expect(await receiver.ready()).toBe(true)
    expect(await ingester.ready()).toBe(true)
  })

  test('sends a row over the limit in parts, and learns the limit from a broker that takes less', async () => {
    const store = memoryStore()
    const log = memoryLog()
    const queue = await start(options({ maxMessageBytes: 4_000_000 }), store, log)
    const begun = performance.now()
    const big = spanRow({ requestBody: 'x'.repeat(7_000_000), responseBody: 'é'.repeat(100_000) })
    await queue.publishSpans([spanRow({ spanId: spanId(9) }), big], 1)
    expect(performance.now() - begun).toBeLessThan(15_000)
    await until(
      () => store.spans.length >= 2,
      () => `${store.spans.length} spans`,
      60_000,
    )
    expect(store.spans.find(({ spanId }) => spanId === big.spanId)).toMatchObject({
      requestBody: big.requestBody,
      responseBody: big.responseBody,
    })
    expect(log.lines.some(({ message }) => message.includes('smaller messages'))).toBe(true)
    await until(
      async () => (await lagOf(queue)) === 0,
      () => 'the lag stays',
      20_000,
    )
  })

  test('stays alive for its group while the store is away for longer than a session, and stores everything then', async () => {
    let isAway = true
    const store = memoryStore(async () => {
      if (isAway) throw new HomegroundError('store-unavailable', 'away', { hint: 'x', retryable: true })
    })
    const queue = await start(options({ sessionTimeoutMs: 2_000 }), store)
    await queue.publishSpans([spanRow()], 1)
    await until(
      async () => (await lagOf(queue)) === 1,
      () => 'no lag',
    )
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    expect(await queue.ready()).toBe(true)
    isAway = false
    await until(
      async () => store.spans.length === 1 && (await lagOf(queue)) === 0,
      () => `${store.spans.length} spans`,
      20_000,
    )
    expect(await metricOf(queue, 'homeground_ingest_consumer_rebuilds_total')).toBe(0)
  })

  test('reads every codec of Kafka, and writes what it is told to', async () => {
    const kafka = options()
    const store = memoryStore()
    const codecs = ['none', 'gzip', 'snappy', 'lz4'] as const
    for (const [n, compression] of codecs.entries()) {
      const receiver = await start({ ...kafka, compression })
      await receiver.publishSpans([spanRow({ spanId: spanId(n + 1), requestBody: compression.repeat(500) })], 1)
    }
    // kafkajs writes no zstd, nor does Node 20: frames of blocks that are not compressed are valid zstd.
    const { CompressionCodecs, CompressionTypes, Kafka } = kafkajs
    const reading = CompressionCodecs[CompressionTypes.ZSTD]
    CompressionCodecs[CompressionTypes.ZSTD] = () => ({ ...reading(), compress: async ({ buffer }: { buffer: Buffer }) => rawZstd(buffer) })
    const producer = new Kafka({ brokers: [broker.address], logLevel: kafkajs.logLevel.NOTHING }).producer()
    await producer.connect()
    const [value] = encodeRows('spans', [spanRow({ spanId: spanId(5), requestBody: 'zstd'.repeat(500) })], 100_000, () => 1n)
    await producer.send({
      topic: kafka.topic,
      compression: CompressionTypes.ZSTD,
      messages: [{ key: value?.key ?? '', value: value?.value ?? null }],
    })
    await producer.disconnect()
    CompressionCodecs[CompressionTypes.ZSTD] = reading

    await start(kafka, store)
    await until(
      () => store.spans.length >= 5,
      () => `${store.spans.map(({ requestBody }) => requestBody.slice(0, 8))}`,
      40_000,
    )
    expect(store.spans.map(({ requestBody }) => requestBody).sort()).toEqual([...codecs, 'zstd'].map((name) => name.repeat(500)).sort())
  })

  test('sets no timer a millisecond while nothing happens', async () => {
    const queue = await start(options())
    await queue.publishSpans([spanRow()], 1)
    const original = globalThis.setTimeout
    let timers = 0
    globalThis.setTimeout = Object.assign((...given: Parameters<typeof setTimeout>) => {
      timers += 1
      return original(...given)
    }, original)
    try {
      await new Promise((resolve) => original(resolve, 2_000))
    } finally {
      globalThis.setTimeout = original
    }
    // Unmended, each connection sets a new one as soon as the last has run: many hundreds.
    expect(timers).toBeLessThan(60)
  })

  test('logs in with user and password, and says at once when they are refused', async () => {
    const sasl = { mechanism: 'plain', username: 'collector', password: 'secret' } as const
    const topic = broker.name('rows')
    const queue = await start(kafkaOptionsFor(broker.saslAddress, topic, { sasl }))
    await queue.publishSpans([spanRow()], 1)
    const refused = start(kafkaOptionsFor(broker.saslAddress, topic, { sasl: { ...sasl, password: 'wrong' } }))
    await expect(refused).rejects.toMatchObject({ code: 'queue-unavailable', retryable: false })
    await refused.catch((error: Error) => expect(error.message).not.toContain('wrong'))
  })

  test('speaks TLS to a broker whose certificate it is told to trust, and to no other', async () => {
    const topic = broker.name('rows')
    const ca = fs.readFileSync(broker.certificateFile, 'utf8')
    const queue = await start(kafkaOptionsFor(broker.tlsAddress, topic, { tls: { ca } }))
    await queue.publishSpans([spanRow()], 1)
    const distrusted = openKafkaQueue({
      kafka: kafkaOptionsFor(broker.tlsAddress, topic, { tls: {} }),
      log: memoryLog(),
      startTimeoutMs: 2_000,
    })
    await expect(distrusted).rejects.toMatchObject({
      code: 'queue-unavailable',
      message: expect.stringMatching(/self-signed|certificate/i),
    })
  })
})

/** One zstd frame of one raw block (RFC 8878): single segment, content size in four bytes. */
function rawZstd(bytes: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32LE(0xfd2fb528, 0)
  head.writeUInt8(0xa0, 4)
  head.writeUInt32LE(bytes.length, 5)
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3)
  return Buffer.concat([head, bytes])
}
