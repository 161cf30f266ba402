// Topics: made where they are missing, else left as they are. The dead letters have one partition and are compacted, so that a letter is kept until it is taken out.
import kafkajs, { type Admin } from 'kafkajs'
import { queueUnavailable } from './client.ts'
import type { KafkaOptions } from './options.ts'

/** A topic as it is made. */
export interface TopicToMake {
  topic: string
  numPartitions: number
  configEntries?: { name: string; value: string }[]
}

/** The rows' topic and that of the dead letters. @throws HomegroundError queue-unavailable */
export async function ensureTopics(admin: Admin, options: KafkaOptions): Promise<void> {
  await makeMissing(admin, options, [
    { topic: options.topic, numPartitions: options.partitions },
    {
      topic: options.deadTopic,
      numPartitions: 1,
      configEntries: [
        { name: 'cleanup.policy', value: 'compact' },
        { name: 'retention.ms', value: '-1' },
      ],
    },
  ])
}

/** @throws HomegroundError queue-unavailable */
export async function makeMissing(admin: Admin, options: Pick<KafkaOptions, 'replication'>, wanted: readonly TopicToMake[]): Promise<void> {
  try {
    const existing = await admin.listTopics()
    const missing = wanted.filter(({ topic }) => !existing.includes(topic))
    if (missing.length === 0) return
    const brokers = (await admin.describeCluster()).brokers.length
    const replicationFactor = options.replication ?? Math.min(3, brokers)
    // An acknowledged row is on all replicas in sync: two at least, where three are to be had.
    const configEntries = replicationFactor >= 3 ? [{ name: 'min.insync.replicas', value: String(replicationFactor - 1) }] : []
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({ ...topic, replicationFactor, configEntries: [...configEntries, ...(topic.configEntries ?? [])] })),
    })
  } catch (error) {
    if (!isAlreadyThere(error))
      throw queueUnavailable(error, `topics ${wanted.map(({ topic }) => topic).join(' and ')} cannot be looked up or made`)
  }
}

/** Another collector was quicker. */
function isAlreadyThere(error: unknown): boolean {
  const errors: unknown[] = error instanceof kafkajs.KafkaJSAggregateError ? error.errors : [error]
  return errors.every((one) => typeof one === 'object' && one !== null && 'type' in one && one.type === 'TOPIC_ALREADY_EXISTS')
}
