// collector/queue/kafka: the queue on Apache Kafka, and its dead letters.
export { type DeadLetterBox, type DeadLetterSummary, openDeadLetters } from './dead-letter-box.ts'
export { type KafkaQueueOptions, openKafkaQueue } from './kafka-queue.ts'
export { type MessageChannel, openMessageChannel } from './message-channel.ts'
export { type KafkaOptions, kafkaOptions } from './options.ts'
export { type KafkaSettings, kafkaSettings } from './settings.ts'
