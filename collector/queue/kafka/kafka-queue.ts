// The queue that outgrows one process: receivers publish to Kafka and answer once all replicas have the rows, ingesters put them into the store. One process may do either or both.

import { errorText } from '@homeground/sdk/trace'
import type { Admin } from 'kafkajs'
import { risingClock, type Store } from '../../../store/index.ts'
import type { Metric } from '../../http/metrics.ts'
import type { Log } from '../../http/types.ts'
import type { Queue } from '../types.ts'
import { isFinal, kafkaClient, queueUnavailable } from './client.ts'
import { letterMessage, letterPartKey } from './dead-letter.ts'
import { type Ingester, startIngester } from './ingester.ts'
import { readLag } from './lag.ts'
import type { KafkaOptions } from './options.ts'
import { encodeRows } from './payload.ts'
import { Publisher } from './publisher.ts'
import { type RowSink, rowSink } from './row-sink.ts'
import { ensureTopics } from './topics.ts'

export interface KafkaQueueOptions {
  kafka: KafkaOptions
  log: Log
  /** Given: this process ingests into it. Stays the caller's to close. */
  store?: Pick<Store, 'insertSpans' | 'insertFeedback' | 'ping'>
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
  /** How long an absent broker is waited for at the start. @default 60000 */
  startTimeoutMs?: number
}

/** @throws HomegroundError queue-unavailable where no broker answers in time, or the credentials are refused */
export async function openKafkaQueue({
  kafka: options,
  log,
  store,
  now = Date.now,
  startTimeoutMs = 60_000,
}: KafkaQueueOptions): Promise<Queue> {
  const kafka = kafkaClient(options, log)
  const admin = kafka.admin()
  const { topic, deadTopic, compression, maxMessageBytes, publishDeadlineMs } = options
  const common = { compression, maxMessageBytes, publishDeadlineMs, log }
  const publisher = new Publisher(kafka, { ...common, topic })
  const burial = new Publisher(kafka, { ...common, topic: deadTopic, partKey: letterPartKey })
  await untilThere(
    async () => {
      await admin.connect()
      await ensureTopics(admin, options)
      await Promise.all([publisher.connect(), ...(store === undefined ? [] : [burial.connect()])])
    },
    startTimeoutMs,
    log,
  )
  let ingesting: { ingester: Ingester; sink: RowSink } | undefined
  if (store !== undefined) {
    const sink = rowSink({ store, log, bury: (letters) => burial.publish(letters.map(letterMessage)) })
    ingesting = { sink, ingester: await startIngester(kafka, { ...options, sink, log }) }
  }
  const version = risingClock(now)
  return {
    publishSpans: (rows) => publisher.publish(encodeRows('spans', rows, publisher.maxValueBytes, version)),
    publishFeedback: (rows) => publisher.publish(encodeRows('feedback', rows, publisher.maxValueBytes, version)),
    ready: async () =>
      (await answers(admin, topic)) && (store === undefined || (ingesting?.ingester.ready() === true && (await store.ping()))),
    metrics: async () => [...(await lagMetric(admin, options)), ...(ingesting === undefined ? [] : ingestMetrics(ingesting))],
    close: async () => {
      await publisher.close()
      await ingesting?.ingester.close()
      await burial.close()
      await admin.disconnect()
    },
  }
}

/** Tries again until it succeeds, is refused for good, or the time is over. @throws HomegroundError queue-unavailable */
export async function untilThere<Result>(ask: () => Promise<Result>, timeoutMs: number, log: Log): Promise<Result> {
  const deadline = performance.now() + timeoutMs
  for (let pause = 250; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      return await ask()
    } catch (error) {
      if (isFinal(error) || performance.now() + pause > deadline) throw queueUnavailable(error, 'does not answer')
      log.warn({ error: errorText(error) }, 'Kafka does not answer yet')
      await sleep(pause)
    }
  }
}

async function answers(admin: Admin, topic: string): Promise<boolean> {
  const metadata = admin.fetchTopicMetadata({ topics: [topic] }).then(
    () => true,
    () => false,
  )
  return await Promise.race([metadata, after(2_000).then(() => false)])
}

async function lagMetric(admin: Admin, options: KafkaOptions): Promise<Metric[]> {
  try {
    const lag = await Promise.race([readLag(admin, options), after(3_000)])
    if (lag === undefined) return []
    const samples = lag.map(({ partition, lag: value }) => ({ labels: { topic: options.topic, partition: String(partition) }, value }))
    return [{ name: 'homeground_kafka_lag', help: 'Messages that are acknowledged and not yet in the store.', type: 'gauge', samples }]
  } catch {
    return []
  }
}

function ingestMetrics({ ingester, sink }: { ingester: Ingester; sink: RowSink }): Metric[] {
  const { messages, rebuilds, abandoned } = ingester.counts()
  const { rows, deadLetters } = sink.counts()
  const counter = (name: string, help: string, value: number): Metric => ({
    name: `homeground_ingest_${name}_total`,
    help,
    type: 'counter',
    samples: [{ value }],
  })
  return [
    counter('messages', 'Kafka messages taken.', messages),
    counter('rows', 'Rows put into the store, those that were read twice counted twice.', rows),
    counter('dead_letters', 'Rows or messages that could not be stored; homeground dlq list shows them.', deadLetters),
    counter('consumer_rebuilds', 'Consumers that ended for good and were replaced.', rebuilds),
    counter('abandoned_payloads', 'Values whose parts never all came, now dead letters; none of them was acknowledged.', abandoned),
  ]
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** As `sleep`, and no reason for the process to stay. */
function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
