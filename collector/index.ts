// The collector: OTLP in, rows out.
export { eraseEverywhere, findEverywhere, type Holdings, type Subject } from './erase-everywhere.ts'
export type { Log } from './http/types.ts'
export { otlpJson } from './ingest/otlp-json-file.ts'
export { createKey, type Key, type Right, readKeys, revokeKey, rights } from './keys/key-file.ts'
export { type KeyRing, openKeyRing } from './keys/key-ring.ts'
export { directQueue } from './queue/direct-queue.ts'
export {
  type DeadLetterBox,
  type KafkaOptions,
  kafkaOptions,
  type MessageChannel,
  openDeadLetters,
  openKafkaQueue,
  openMessageChannel,
} from './queue/kafka/index.ts'
export type { Queue } from './queue/types.ts'
export { type CollectorSettings, collectorSettings, keyFile } from './settings.ts'
export { type Collector, type CollectorOptions, isLoopback, startCollector } from './start-collector.ts'
