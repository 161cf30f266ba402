// How far the ingesters are behind the receivers: messages on each partition that the group has not committed yet.
import type { Admin } from 'kafkajs'
import type { KafkaOptions } from './options.ts'

/** One number a partition. @throws what kafkajs throws */
export async function readLag(
  admin: Admin,
  { topic, group }: Pick<KafkaOptions, 'topic' | 'group'>,
): Promise<{ partition: number; lag: number }[]> {
  const [ends, [committed]] = await Promise.all([admin.fetchTopicOffsets(topic), admin.fetchOffsets({ groupId: group, topics: [topic] })])
  const byPartition = new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))
  return ends
    .map(({ partition, low, high }) => {
      const at = byPartition.get(partition) ?? -1n
      // -1: nothing committed yet. Retention may have removed what was never read.
      const from = at < BigInt(low) ? BigInt(low) : at
      return { partition, lag: Number(BigInt(high) - from) }
    })
    .sort((one, other) => one.partition - other.partition)
}
