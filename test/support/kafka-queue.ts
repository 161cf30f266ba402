// Kafka options and stores for tests of the Kafka queue.
import { type KafkaOptions, kafkaOptions, kafkaSettings } from '../../collector/queue/kafka/index.ts'
import type { Queue } from '../../collector/queue/types.ts'
import type { ReceivedFeedbackRow, ReceivedSpanRow } from '../../store/index.ts'

/** As the settings of a process would give them, with what a test changes. */
export function kafkaOptionsFor(brokers: string, topic: string, given: Partial<KafkaOptions> = {}): KafkaOptions {
  const options = kafkaOptions(
    kafkaSettings.parse({ HOMEGROUND_KAFKA_BROKERS: brokers, HOMEGROUND_KAFKA_TOPIC: topic, HOMEGROUND_KAFKA_GROUP: `${topic}-group` }),
  )
  if (options === undefined) throw new Error('no brokers')
  return { ...options, partitions: 3, sessionTimeoutMs: 6_000, ...given }
}

/** A store that keeps rows in memory and does first what the test says. */
export function memoryStore(before: (rows: readonly ReceivedSpanRow[]) => Promise<void> = async () => {}) {
  const spans: ReceivedSpanRow[] = []
  const feedback: ReceivedFeedbackRow[] = []
  return {
    spans,
    feedback,
    insertSpans: async (rows: readonly ReceivedSpanRow[]) => {
      await before(rows)
      spans.push(...rows)
    },
    insertFeedback: async (rows: readonly ReceivedFeedbackRow[]) => {
      feedback.push(...rows)
    },
    ping: async () => true,
  }
}

/** The sum of a metric's samples; undefined where there is none. */
export async function metricOf(queue: Queue, name: string): Promise<number | undefined> {
  const found = (await queue.metrics?.())?.find((one) => one.name === name)
  return found?.samples.reduce((sum, { value }) => sum + value, 0)
}

export function lagOf(queue: Queue): Promise<number | undefined> {
  return metricOf(queue, 'homeground_kafka_lag')
}
