// Puts values on a topic and says so once all replicas have them. Sends are not idempotent in Kafka's sense, on purpose: after a failed send kafkajs uses the same
// sequence numbers for the next batch, and a broker that had written the failed one takes the next for its repetition, acknowledges and drops it. Here every failed send
// is sent again as a whole, and the store forgives repetition.
import { HomegroundError } from '@homeground/sdk/trace'
import kafkajs, { type Kafka, type Message, type Producer } from 'kafkajs'
import type { Log } from '../../http/types.ts'
import { GroupCommit } from '../group-commit.ts'
import { isFinal, isTooLarge, queueUnavailable } from './client.ts'
import type { KafkaOptions } from './options.ts'
import { splitIntoParts } from './parts.ts'

/** Below this no broker's limit is taken seriously. */
const leastMessageBytes = 4_096
/** What key, headers and record format add to a value, about. */
const overheadBytes = 300

/** One message of any size. */
export interface Outgoing {
  key: string
  value: Buffer
  headers?: Record<string, string>
  /** @default by the key */
  partition?: number
}

interface Waiting {
  message: Message
  deadline: number
}

export interface PublisherOptions extends Pick<KafkaOptions, 'topic' | 'compression' | 'maxMessageBytes' | 'publishDeadlineMs'> {
  log: Log
  /** The key of a part, where it must not be the value's own. */
  partKey?: (key: string, n: number) => string
  /** Monotonic milliseconds. @default performance.now */
  now?: () => number
}

export class Publisher {
  readonly #producer: Producer
  readonly #options: PublisherOptions
  readonly #now: () => number
  readonly #group: GroupCommit<Waiting>
  #maxBytes: number
  #partsTurn: Promise<unknown> = Promise.resolve()

  constructor(kafka: Kafka, options: PublisherOptions) {
    this.#producer = kafka.producer({ allowAutoTopicCreation: false, createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#maxBytes = options.maxMessageBytes
    this.#group = new GroupCommit<Waiting>({
      commit: (group) => this.#sendGroup(group),
      concurrency: 4,
      // A send that hangs must not hold the others up.
      smallConcurrency: 4,
      maxBytes: options.maxMessageBytes,
      spacingMs: 5,
    })
  }

  /** Most bytes of one value; smaller once a broker has refused larger ones. */
  get maxValueBytes(): number {
    return this.#maxBytes - overheadBytes
  }

  connect(): Promise<void> {
    return this.#producer.connect()
  }

  /** Resolves when all replicas have all values. @throws HomegroundError queue-unavailable (retryable where waiting may help) */
  async publish(values: readonly Outgoing[]): Promise<void> {
    const deadline = this.#now() + this.#options.publishDeadlineMs
    await Promise.all(values.map((value) => this.#publishOne(value, deadline)))
  }

  /** Sends what waits, then disconnects. */
  async close(): Promise<void> {
    await this.#group.drained()
    await this.#producer.disconnect()
  }

  async #publishOne(outgoing: Outgoing, deadline: number): Promise<void> {
    for (;;) {
      const limit = this.#maxBytes
      try {
        if (outgoing.value.length <= limit - overheadBytes) return await this.#enqueue(outgoing, deadline)
        return await this.#publishParts(outgoing, limit - overheadBytes, deadline)
      } catch (error) {
        if (!isTooLarge(error)) throw queueUnavailable(error, `did not take a message for ${this.#options.topic}`)
        if (!this.#shrink(limit)) throw tooLarge(error, this.#options.topic)
      }
    }
  }

  /** One value in parts at a time, each part after the one before: a reader then holds one unfinished value for each of us. */
  #publishParts({ key, value, headers, partition }: Outgoing, maxBytes: number, deadline: number): Promise<void> {
    const partKey = this.#options.partKey ?? (() => key)
    const turn = this.#partsTurn.then(async () => {
      for (const [n, part] of splitIntoParts(value, maxBytes).entries())
        await this.#enqueue(
          {
            key: partKey(key, n),
            value: part.value,
            headers: { ...headers, ...part.headers },
            ...(partition === undefined ? {} : { partition }),
          },
          deadline,
        )
    })
    this.#partsTurn = turn.catch(() => {})
    return turn
  }

  #enqueue(message: Message, deadline: number): Promise<void> {
    return this.#group.add([{ message, deadline }], (message.value?.length ?? 0) + overheadBytes)
  }

  /** True where a smaller limit is worth a try. */
  #shrink(refused: number): boolean {
    if (this.#maxBytes < refused) return true
    if (this.#maxBytes <= leastMessageBytes) return false
    this.#maxBytes = Math.max(leastMessageBytes, Math.floor(this.#maxBytes / 2))
    this.#options.log.warn(
      { maxMessageBytes: this.#maxBytes },
      'the broker takes smaller messages than we were told; set HOMEGROUND_KAFKA_MAX_MESSAGE_BYTES',
    )
    return true
  }

  /** Kafka's limit is on a batch, all that goes to one partition in one send: no send is larger than the limit. */
  async #sendGroup(group: readonly Waiting[]): Promise<void> {
    let from = 0
    while (from < group.length) {
      let bytes = 0
      let to = from
      for (; to < group.length; to++) {
        const size = (group[to]?.message.value?.length ?? 0) + overheadBytes
        if (to > from && bytes + size > this.#maxBytes) break
        bytes += size
      }
      await this.#send(group.slice(from, to))
      from = to
    }
  }

  /** Sends until it is written or the first of them has waited long enough. A broker that is away makes kafkajs give up, and call it final, long before that. */
  async #send(group: readonly Waiting[]): Promise<void> {
    const deadline = Math.min(...group.map((waiting) => waiting.deadline))
    for (let pause = 100; ; pause = Math.min(pause * 2, 1_000)) {
      try {
        await this.#producer.send({
          topic: this.#options.topic,
          acks: -1,
          timeout: 10_000,
          compression: compressionTypes[this.#options.compression],
          messages: group.map(({ message }) => message),
        })
        return
      } catch (error) {
        if (isTooLarge(error) || isFinal(error) || this.#now() + pause > deadline) throw error
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
  }
}

const compressionTypes = {
  none: kafkajs.CompressionTypes.None,
  gzip: kafkajs.CompressionTypes.GZIP,
  snappy: kafkajs.CompressionTypes.Snappy,
  lz4: kafkajs.CompressionTypes.LZ4,
}

function tooLarge(error: unknown, topic: string): HomegroundError {
  return new HomegroundError('queue-unavailable', `the topic ${topic} takes no message of ${leastMessageBytes} bytes`, {
    hint: 'raise max.message.bytes of the topic (Kafka’s default is 1048588)',
    cause: error,
  })
}
