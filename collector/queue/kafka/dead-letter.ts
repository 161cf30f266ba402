// Dead letters: what was acknowledged and cannot be stored, with the reason and where it stood. A letter stays until somebody sends it again or drops it; taking it out
// is a record without a value, which Kafka's compaction honours.
import type { Admin, Consumer, IHeaders, Kafka, Producer } from 'kafkajs'
import { queueUnavailable } from './client.ts'
import type { KafkaOptions } from './options.ts'
import { header, PartJoiner } from './parts.ts'
import type { Outgoing } from './publisher.ts'

export interface DeadLetter {
  /** `TOPIC/PARTITION/OFFSET`, where it stood; several letters of one message are told apart by `#N`. */
  id: string
  /** Without content of the rows. */
  reason: string
  /** ISO 8601: when it was given up. */
  at: string
  /** The key it had, its trace. */
  trace: string
  value: Buffer
}

/** A letter as it was read, with the keys of its messages. */
export interface StoredLetter extends DeadLetter {
  keys: string[]
}

const names = { id: 'homeground-letter', reason: 'homeground-reason', at: 'homeground-at', trace: 'homeground-trace' } as const

/** What to publish on the dead topic. */
export function letterMessage({ id, reason, at, trace, value }: DeadLetter): Outgoing {
  return { key: id, value, headers: { [names.id]: id, [names.reason]: reason.slice(0, 1_000), [names.at]: at, [names.trace]: trace } }
}

/** Compaction keeps one message a key: each part of a large letter has its own. */
export function letterPartKey(id: string, n: number): string {
  return `${id}|${n}`
}

/** The letters that have not been taken out, oldest first, up to what is there when it begins. @throws HomegroundError queue-unavailable */
export async function readLetters(kafka: Kafka, options: Pick<KafkaOptions, 'deadTopic' | 'group'>): Promise<StoredLetter[]> {
  const admin = kafka.admin()
  const groupId = `${options.group}.dead.${process.pid}.${Date.now()}`
  const consumer = kafka.consumer({ groupId, retry: { retries: 3, restartOnFailure: async () => false } })
  try {
    await admin.connect()
    const end = await endOffset(admin, options.deadTopic)
    if (end === 0n) return []
    return await readUpTo(consumer, options.deadTopic, end)
  } catch (error) {
    throw queueUnavailable(error, `topic ${options.deadTopic} cannot be read`)
  } finally {
    await consumer.disconnect().catch(() => {})
    await admin.deleteGroups([groupId]).catch(() => {})
    await admin.disconnect().catch(() => {})
  }
}

/** All that a send holds for one partition is one batch, which a broker takes up to 1 MB of. */
const removedAtOnce = 2_000

/** Takes letters out. @throws HomegroundError queue-unavailable */
export async function removeLetters(
  producer: Producer,
  { deadTopic }: Pick<KafkaOptions, 'deadTopic'>,
  letters: readonly StoredLetter[],
): Promise<void> {
  const messages = letters.flatMap(({ keys }) => keys.map((key) => ({ key, value: null })))
  try {
    for (let at = 0; at < messages.length; at += removedAtOnce)
      await producer.send({ topic: deadTopic, acks: -1, messages: messages.slice(at, at + removedAtOnce) })
  } catch (error) {
    throw queueUnavailable(error, `did not take letters out of ${deadTopic}`)
  }
}

/** The offset after the last message of the only partition; 0 where there is no such topic, or nothing in it. */
async function endOffset(admin: Admin, topic: string): Promise<bigint> {
  if (!(await admin.listTopics()).includes(topic)) return 0n
  const [partition] = await admin.fetchTopicOffsets(topic)
  return partition === undefined || partition.high === partition.low ? 0n : BigInt(partition.high)
}

async function readUpTo(consumer: Consumer, topic: string, end: bigint): Promise<StoredLetter[]> {
  const letters = new Map<string, StoredLetter>()
  const keys = new Map<string, Set<string>>()
  const joiner = new PartJoiner()
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise<void>((resolve, reject) => {
    // Whoever asks is a person, who may ask again.
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
    consumer
      .run({
        autoCommit: false,
        eachBatch: async ({ batch }) => {
          for (const message of batch.messages) {
            const key = message.key?.toString() ?? ''
            const id = header(message.headers, names.id) ?? key.replace(/\|\d+$/, '')
            if (message.value === null) {
              letters.delete(id)
              continue
            }
            const all = keys.get(id) ?? new Set()
            keys.set(id, all.add(key))
            const value = joiner.add(message)
            if (value !== undefined) letters.set(id, { ...letterOf(id, message.headers, value), keys: [...all] })
          }
          joiner.settle()
          // Compaction leaves gaps, also at the end: the batch's own last offset counts, not the last message's.
          if (BigInt(batch.lastOffset()) >= end - 1n) resolve()
        },
      })
      .catch(reject)
  })
  return [...letters.values()]
}

function letterOf(id: string, headers: IHeaders | undefined, value: Buffer): DeadLetter {
  const text = (name: string) => header(headers, name) ?? ''
  return { id, reason: text(names.reason), at: text(names.at), trace: text(names.trace), value }
}
