// Cuts what was fetched of a partition into runs small enough to be held as rows: bounded by count and bytes, in offset order.
import type { KafkaMessage } from 'kafkajs'

const mostMessages = 2_000
const mostBytes = 8 * 1024 * 1024

/** Every slice has at least one message; together they are all messages. */
export function* slicesOf(messages: readonly KafkaMessage[], most = mostMessages): Generator<KafkaMessage[]> {
  let slice: KafkaMessage[] = []
  let bytes = 0
  for (const message of messages) {
    const size = message.value?.length ?? 0
    if (slice.length > 0 && (slice.length >= most || bytes + size > mostBytes)) {
      yield slice
      slice = []
      bytes = 0
    }
    slice.push(message)
    bytes += size
  }
  if (slice.length > 0) yield slice
}
