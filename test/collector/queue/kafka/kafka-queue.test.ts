import { HomegroundError } from '@homeground/sdk/trace'
import { afterEach, describe, expect, test } from 'vitest'
import { openKafkaQueue } from '../../../../collector/queue/kafka/index.ts'
import type { KafkaOptions } from '../../../../collector/queue/kafka/options.ts'
import type { Queue } from '../../../../collector/queue/types.ts'
import { memoryLog } from '../../../support/collector.ts'
import { kafkaIsMissing, useKafka } from '../../../support/kafka.ts'
import { kafkaOptionsFor, memoryStore } from '../../../support/kafka-queue.ts'
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
      async () => (await lag(queue)) === 0,
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
      async () => (await lag(queue)) === 1,
      () => 'no lag',
    )
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    expect(await queue.ready()).toBe(true)
    isAway = false
    await until(
      async () => store.spans.length === 1 && (await lag(queue)) === 0,
      () => `${store.spans.length} spans`,
      20_000,
    )
    expect(await metric(queue, 'homeground_ingest_consumer_rebuilds_total')).toBe(0)
  })
})

async function metric(queue: Queue, name: string): Promise<number | undefined> {
  const found = (await queue.metrics?.())?.find((one) => one.name === name)
  return found?.samples.reduce((sum, { value }) => sum + value, 0)
}

function lag(queue: Queue): Promise<number | undefined> {
  return metric(queue, 'homeground_kafka_lag')
}
