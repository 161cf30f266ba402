// Values of any size over Kafka topics, at least once, for whoever works through a queue: sent when all replicas have them, acknowledged when the one who handles them says so.
// What a process that dies has not acknowledged goes to another of its group. Knows nothing of what the values mean.

import { errorText } from '@homeground/sdk/trace'
import type { Kafka } from 'kafkajs'
import type { Log } from '../../http/types.ts'
import { kafkaClient } from './client.ts'
import { startIngester } from './ingester.ts'
import { untilThere } from './kafka-queue.ts'
import type { KafkaOptions } from './options.ts'
import { type Outgoing, Publisher } from './publisher.ts'
import type { RowSink } from './row-sink.ts'
import { makeMissing, type TopicToMake } from './topics.ts'

export interface MessageChannelOptions {
  kafka: KafkaOptions
  log: Log
  /** Made where they are missing. */
  topics: readonly TopicToMake[]
  /** How long an absent broker is waited for at the start. @default 20000 */
  startTimeoutMs?: number
}

export interface Receiving {
  topic: string
  group: string
  /** Where a group begins that has acknowledged nothing yet: with what is there, or with what comes. */
  from: 'beginning' | 'end'
  /**
   * One value of a partition after the other; partitions side by side. Resolved, it is acknowledged, unless the signal came first: then it comes again, here or elsewhere.
   * Rejected, it comes again too.
   */
  handle(value: Buffer, signal: AbortSignal): Promise<void>
}

export interface MessageChannel {
  /** How many partitions a topic has. */
  partitions(topic: string): Promise<number>
  /** Members of a group. */
  members(group: string): Promise<number>
  /** Resolves when all replicas have it. @throws HomegroundError queue-unavailable */
  send(topic: string, message: Outgoing): Promise<void>
  receive(receiving: Receiving): Promise<{ close(): Promise<void> }>
  /** Forgets what a group has acknowledged. */
  forget(group: string): Promise<void>
  close(): Promise<void>
}

/** @throws HomegroundError queue-unavailable */
export async function openMessageChannel(options: MessageChannelOptions): Promise<MessageChannel> {
  const { kafka: settings, log, topics, startTimeoutMs = 20_000 } = options
  const kafka = kafkaClient(settings, log, 'homeground-work')
  const admin = kafka.admin()
  const publishers = new Map(topics.map(({ topic }) => [topic, new Publisher(kafka, { ...settings, topic, log })]))
  await untilThere(
    async () => {
      await admin.connect()
      await makeMissing(admin, settings, topics)
      // Another process may be making them just now: they are there once every partition has a leader.
      await Promise.all(topics.map(({ topic }) => admin.fetchTopicOffsets(topic)))
      await Promise.all([...publishers.values()].map((publisher) => publisher.connect()))
    },
    startTimeoutMs,
    log,
  )
  return {
    partitions: (topic) => untilThere(async () => (await admin.fetchTopicOffsets(topic)).length, startTimeoutMs, log),
    members: (group) => untilThere(async () => (await admin.describeGroups([group])).groups[0]?.members.length ?? 0, startTimeoutMs, log),
    send: async (topic, message) => {
      const publisher = publishers.get(topic)
      if (publisher === undefined) throw new RangeError(`the channel has no topic ${topic}`)
      await publisher.publish([message])
    },
    receive: async (receiving) => {
      // The broker may be loading what it knows of groups.
      if (receiving.from === 'end') await untilThere(() => beginAtEnd(admin, receiving), startTimeoutMs, log)
      return await startReceiving(kafka, { ...settings, ...receiving, log })
    },
    forget: async (group) => {
      // Only tidiness: the broker forgets a group by itself in time.
      await admin.deleteGroups([group]).catch(() => {})
    },
    close: async () => {
      await Promise.all([...publishers.values()].map((publisher) => publisher.close()))
      await admin.disconnect()
    },
  }
}

async function beginAtEnd(admin: ReturnType<Kafka['admin']>, { topic, group }: Receiving): Promise<void> {
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  if (committed?.partitions.some(({ offset }) => Number(offset) >= 0)) return
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.setOffsets({ groupId: group, topic, partitions: ends.map(({ partition, high }) => ({ partition, offset: high })) })
}

async function startReceiving(
  kafka: Kafka,
  {
    topic,
    group,
    handle,
    log,
    sessionTimeoutMs,
    partsDeadlineMs,
  }: Receiving & Pick<KafkaOptions, 'sessionTimeoutMs' | 'partsDeadlineMs'> & { log: Log },
): Promise<{ close(): Promise<void> }> {
  const sink: Pick<RowSink, 'store'> = {
    store: async ({ messages, joiner, partition }, signal) => {
      for (const message of messages) {
        let value: Buffer | undefined
        try {
          value = joiner.add(message)
        } catch (error) {
          const reason = errorText(error)
          log.error({ topic, partition, offset: message.offset, reason }, 'a message that is none of ours is passed over')
        }
        if (value !== undefined && !signal.aborted) await handle(value, signal)
      }
    },
  }
  const receiver = await startIngester(kafka, { topic, group, sessionTimeoutMs, partsDeadlineMs, sink, log, sliceMessages: 1 })
  return { close: () => receiver.close() }
}
