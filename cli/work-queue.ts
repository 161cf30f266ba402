// The Kafka that rollouts are handed out over: that of the collector, with two topics of their own.
import { HomegroundError } from '@homeground/sdk/trace'
import { collectorSettings, kafkaOptions, type Log, type MessageChannel, openMessageChannel } from '../collector/index.ts'
import { jobPartitions, type WorkTopics, workTopics } from '../replay/work/index.ts'
import { readSettings } from '../store/index.ts'
import { quietLog } from './quiet-log.ts'

export interface Work {
  channel: MessageChannel
  topics: WorkTopics
}

/** @throws HomegroundError invalid-settings: no broker is named; queue-unavailable */
export async function openWork(log: Log = quietLog): Promise<Work> {
  const kafka = kafkaOptions(readSettings(collectorSettings, process.env))
  if (kafka === undefined) {
    throw new HomegroundError('invalid-settings', 'HOMEGROUND_KAFKA_BROKERS is not set, and rollouts are handed out over Kafka', {
      hint: 'set the HOMEGROUND_KAFKA_* variables as for the collector (docs/scaling.md)',
    })
  }
  const topics = workTopics(kafka.topic)
  const channel = await openMessageChannel({
    kafka,
    log,
    topics: [
      { topic: topics.jobs, numPartitions: jobPartitions },
      { topic: topics.results, numPartitions: 1 },
    ],
  })
  return { channel, topics }
}
