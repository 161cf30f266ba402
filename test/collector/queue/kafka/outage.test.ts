import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import kafkajs from 'kafkajs'
import { afterEach, describe, expect, test } from 'vitest'
import { kafkaClient } from '../../../../collector/queue/kafka/client.ts'
import { letterMessage } from '../../../../collector/queue/kafka/dead-letter.ts'
import { openDeadLetters, openKafkaQueue } from '../../../../collector/queue/kafka/index.ts'
import { startIngester } from '../../../../collector/queue/kafka/ingester.ts'
import type { KafkaOptions } from '../../../../collector/queue/kafka/options.ts'
import { splitIntoParts } from '../../../../collector/queue/kafka/parts.ts'
import type { Queue } from '../../../../collector/queue/types.ts'
import { memoryLog } from '../../../support/collector.ts'
import { homegroundCommand, homegroundServer } from '../../../support/command.ts'
import { engineIsMissing } from '../../../support/engine.ts'
import { kafkaIsMissing, useKafka } from '../../../support/kafka.ts'
import { kafkaOptionsFor, lagOf, memoryStore, metricOf } from '../../../support/kafka-queue.ts'
import { spanId, spanRow, traceId } from '../../../support/span-rows.ts'
import { until } from '../../../support/until.ts'

const open: Queue[] = []
afterEach(async () => {
  for (const queue of open.splice(0)) await queue.close()
})

async function start(kafka: KafkaOptions, store?: ReturnType<typeof memoryStore>): Promise<Queue> {
  const queue = await openKafkaQueue({ kafka, log: memoryLog(), ...(store === undefined ? {} : { store }) })
  open.push(queue)
  return queue
}

describe.skipIf(kafkaIsMissing)('the Kafka queue, when something fails', { timeout: 180_000 }, () => {
  const broker = useKafka()
  const options = (given: Partial<KafkaOptions> = {}) => kafkaOptionsFor(broker.address, broker.name('rows'), given)

  test('replaces a consumer that kafkajs has ended for good, and stores what it left', async () => {
    const kafka = options()
    const queue = await start(kafka)
    await queue.publishSpans([spanRow()], 1)
    let calls = 0
    const log = memoryLog()
    const sink = {
      store: async () => {
        calls += 1
        // An error that kafkajs takes for a fault of the handler: it ends the consumer with restart: false.
        if (calls === 1) throw new TypeError('a fault of ours')
      },
      counts: () => ({ rows: 0, deadLetters: 0 }),
    }
    const ingester = await startIngester(kafkaClient(kafka, log), { ...kafka, sink, log })
    try {
      await until(
        () => calls >= 2,
        () => `${calls} calls; ${log.lines.map(({ message }) => message).join('; ')}`,
        60_000,
      )
      expect(ingester.counts()).toMatchObject({ rebuilds: 1 })
      await until(
        () => ingester.ready(),
        () => 'not ready',
      )
    } finally {
      await ingester.close()
    }
  })

  test('lays what can never be stored aside with its reason, stores the rest, and sends it again when told', async () => {
    let isPoison = true
    const store = memoryStore(async (rows) => {
      if (isPoison && rows.some(({ name }) => name === 'poison'))
        throw new HomegroundError('internal', 'ClickHouse refused a statement: the row is bad', { hint: 'x' })
    })
    const kafka = options({ maxMessageBytes: 500_000 })
    const queue = await start(kafka, store)
    const rows = Array.from({ length: 30 }, (_, n) =>
      spanRow({ traceId: traceId(n % 5), spanId: spanId(n + 1), name: n === 11 ? 'poison' : 'chat' }),
    )
    const large = spanRow({ traceId: traceId(77), spanId: spanId(77), name: 'poison', requestBody: 'x'.repeat(1_200_000) })
    await queue.publishSpans([...rows, large], 1)
    const producer = new kafkajs.Kafka({ brokers: [broker.address], logLevel: kafkajs.logLevel.NOTHING }).producer()
    await producer.connect()
    await producer.send({ topic: kafka.topic, messages: [{ key: 'k', value: 'no rows' }] })
    await producer.disconnect()
    await until(
      async () => (await metricOf(queue, 'homeground_ingest_dead_letters_total')) === 3 && (await lagOf(queue)) === 0,
      () => `${store.spans.length} spans`,
      60_000,
    )
    expect(new Set(store.spans.map(({ spanId }) => spanId)).size).toBe(29)

    const dlq = async (...args: string[]) => {
      const env = { HOMEGROUND_KAFKA_BROKERS: broker.address, HOMEGROUND_KAFKA_TOPIC: kafka.topic, HOMEGROUND_KAFKA_GROUP: kafka.group }
      const { code, stdout, stderr } = await homegroundCommand(['--json', 'dlq', ...args], env)
      expect(stderr).toBe('')
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    const letters: { id: string; reason: string; trace: string; bytes: number }[] = await dlq('list')
    expect(letters.map(({ reason, trace }) => [reason, trace]).sort()).toEqual([
      ['ClickHouse refused a statement: the row is bad', traceId(1)],
      ['ClickHouse refused a statement: the row is bad', traceId(77)],
      ['the value is no JSON', 'k'],
    ])
    const unreadable = letters.find(({ trace }) => trace === 'k')
    expect(await dlq('show', unreadable?.id ?? '')).toMatchObject({ value: 'no rows', bytes: 7 })
    expect(await dlq('drop', unreadable?.id ?? '')).toEqual({ letters: 1 })
    isPoison = false
    expect(await dlq('retry', '--all')).toEqual({ letters: 2 })
    await until(
      () => new Set(store.spans.map(({ spanId }) => spanId)).size === 31,
      () => `${store.spans.length} spans`,
      30_000,
    )
    expect(store.spans.find(({ spanId }) => spanId === large.spanId)?.requestBody).toBe(large.requestBody)
    expect(await dlq('list')).toEqual([])
  })

  test('lays a value aside whose sender died between two parts, and commits past it, though nothing more comes', async () => {
    const kafka = options({ partsDeadlineMs: 1_500, partitions: 1 })
    const queue = await start(kafka, memoryStore())
    const log = memoryLog()
    const producer = kafkaClient(kafka, log).producer()
    await producer.connect()
    const [part] = splitIntoParts(Buffer.from('{"format":1,"kind":"spans","rows":[]}'), 20)
    const message = { key: traceId(7), value: part?.value ?? null, headers: part?.headers ?? {} }
    await producer.send({ topic: kafka.topic, acks: -1, messages: [message] })
    await producer.disconnect()
    await until(
      async () => (await metricOf(queue, 'homeground_ingest_abandoned_payloads_total')) === 1 && (await lagOf(queue)) === 0,
      () => 'the unfinished value holds its partition',
      60_000,
    )
    const box = await openDeadLetters(kafka, log)
    expect(await box.list()).toMatchObject([
      { id: `${kafka.topic}/0/0`, trace: traceId(7), bytes: 20, reason: expect.stringContaining('only 1 of 2 parts came within 1.5 s') },
    ])
    await box.close()
  })

  test('keeps a request over an outage of the broker, or says in time that it may be tried again', async () => {
    const store = memoryStore()
    const kafka = options({ publishDeadlineMs: 120_000 })
    const queue = await start(kafka, store)
    const hurried = await start({ ...kafka, publishDeadlineMs: 1_000 })
    await queue.publishSpans([spanRow({ spanId: spanId(1) })], 1)
    await broker.kill()
    const kept = queue.publishSpans([spanRow({ spanId: spanId(2) })], 1)
    await expect(hurried.publishSpans([spanRow({ spanId: spanId(3) })], 1)).rejects.toMatchObject({
      code: 'queue-unavailable',
      retryable: true,
    })
    expect(await hurried.ready()).toBe(false)
    await broker.restart()
    await kept
    await until(
      async () => store.spans.some((row) => row.spanId === spanId(2)) && (await lagOf(queue)) === 0,
      () => `${store.spans.length} spans`,
      60_000,
    )
    expect(await queue.ready()).toBe(true)
  })

  test('takes out more dead letters than one message to Kafka holds, and ends where the broker goes while they are read', async () => {
    const kafka = options()
    const log = memoryLog()
    await start(kafka, memoryStore())
    const producer = kafkaClient(kafka, log).producer()
    const write = async () => {
      await producer.connect()
      for (let from = 0; from < 50_000; from += 5_000) {
        const messages = Array.from({ length: 5_000 }, (_, n) => letterMessage({ ...letter, id: `${kafka.topic}/0/${from + n}` }))
        await producer.send({ topic: kafka.deadTopic, messages })
      }
      await producer.disconnect()
    }
    const letter = { reason: 'a test', at: '2026-12-01T00:00:00.000Z', trace: traceId(1), value: Buffer.from('{}') }
    await write()
    const box = await openDeadLetters(kafka, log)
    expect([await box.drop('all'), await box.list()]).toEqual([50_000, []])

    await write()
    const admin = kafkaClient(kafka, log).admin()
    await admin.connect()
    const listed = box.list().catch((error: unknown) => (HomegroundError.is(error) ? error.code : error))
    await until(
      async () => (await admin.listGroups()).groups.some(({ groupId }) => groupId.startsWith(`${kafka.group}.dead.`)),
      () => 'nobody reads the letters',
    )
    await broker.kill()
    const answer = await listed
    // Read before the broker was gone, or not to be had; without an end a command would wait for ever.
    if (!Array.isArray(answer)) expect(answer).toBe('queue-unavailable')
    await Promise.all([box.close(), admin.disconnect()])
    await broker.restart()
  })

  test.skipIf(engineIsMissing)('ends when it is told to while the broker is away', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-away-'))
    const server = await homegroundServer(['collector'], {
      HOMEGROUND_FOLDER: folder,
      HOMEGROUND_ROLE: 'ingest',
      HOMEGROUND_KAFKA_BROKERS: broker.address,
      HOMEGROUND_KAFKA_TOPIC: broker.name('rows'),
    })
    try {
      await broker.kill()
      await until(
        () => server.output.stderr.includes('Restarting the consumer'),
        () => server.output.stderr,
        60_000,
      )
      expect((await server.stop()).code).toBe(0)
    } finally {
      await server.kill()
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
