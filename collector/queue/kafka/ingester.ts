// Takes messages off the topic and puts their rows into the store: insert, then commit, so that a row is stored at least once, and the store makes that exactly once.
// A slice is a run of offsets of one partition; reading it again gives the same rows with the same versions. While the store is away the ingester waits, alive for its
// group; what can never be stored becomes a dead letter, by itself.

import { errorText } from '@homeground/sdk/trace'
import type { Consumer, ConsumerCrashEvent, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import type { Log } from '../../http/types.ts'
import type { KafkaOptions } from './options.ts'
import type { RowSink } from './row-sink.ts'
import { slicesOf } from './slices.ts'
import { giveUp, lookAfterIdle, PartitionState } from './unfinished-values.ts'

export interface IngesterOptions extends Pick<KafkaOptions, 'topic' | 'group' | 'sessionTimeoutMs' | 'partsDeadlineMs'> {
  sink: Pick<RowSink, 'store'> & Partial<Pick<RowSink, 'layAside'>>
  log: Log
  /** Messages that are stored and committed together. @default as many as fit */
  sliceMessages?: number
}

export interface Ingester {
  /** Whether it is a member of its group and at work. */
  ready(): boolean
  /** Since the start. */
  counts(): IngesterCounts
  /** Ends what it is storing, leaves the group. */
  close(): Promise<void>
}

export interface IngesterCounts {
  messages: number
  rebuilds: number
  /** Values whose parts never all came, laid aside; none of them was acknowledged. */
  abandoned: number
}

/** Starts and never gives up: a consumer that kafkajs ends for good is replaced. */
export async function startIngester(kafka: Kafka, options: IngesterOptions): Promise<Ingester> {
  const { log } = options
  const counts: IngesterCounts = { messages: 0, rebuilds: 0, abandoned: 0 }
  const stopping = new AbortController()
  let member: Member | undefined
  let isReady = false
  let rebuilding: Promise<void> = Promise.resolve()

  async function build(): Promise<void> {
    for (let pause = 500; !stopping.signal.aborted; pause = Math.min(pause * 2, 10_000)) {
      try {
        member = await joinGroup(kafka, options, counts, {
          onState: (ready) => {
            isReady = ready
          },
          onDead: (reason) => {
            if (stopping.signal.aborted) return
            counts.rebuilds += 1
            log.warn({ reason }, 'the consumer has ended; another takes its place')
            const dead = member
            rebuilding = sleep(500).then(async () => {
              await dead?.leave()
              await build()
            })
          },
        })
        return
      } catch (error) {
        log.warn({ error: errorText(error) }, 'cannot join the consumer group yet')
        await sleep(pause)
      }
    }
  }
  await build()
  return {
    ready: () => isReady,
    counts: () => ({ ...counts }),
    close: async () => {
      stopping.abort()
      await rebuilding
      await member?.leave()
    },
  }
}

interface Member {
  leave(): Promise<void>
}

async function joinGroup(
  kafka: Kafka,
  { topic, group, sessionTimeoutMs, partsDeadlineMs, sink, log, sliceMessages }: IngesterOptions,
  counts: IngesterCounts,
  on: { onState(ready: boolean): void; onDead(reason: string): void },
): Promise<Member> {
  const heartbeatInterval = Math.max(300, Math.floor(sessionTimeoutMs / 5))
  const leaving = new AbortController()
  const consumer: Consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: Math.max(sessionTimeoutMs, 10_000),
    heartbeatInterval,
    allowAutoTopicCreation: false,
    minBytes: 1,
    maxWaitTimeInMs: Math.min(250, heartbeatInterval),
    maxBytesPerPartition: 2 * 1024 * 1024,
    maxBytes: 8 * 1024 * 1024,
    // Left to itself kafkajs begins anew for ever, also after `disconnect`: the process would never end while its broker is away.
    retry: { initialRetryTime: 200, maxRetryTime: 2_000, retries: 8, restartOnFailure: async () => !leaving.signal.aborted },
  })
  const partitions = new Map<number, PartitionState>()
  const unfinished = { topic, partsDeadlineMs, sink, log, leaving: leaving.signal }
  consumer.on(consumer.events.GROUP_JOIN, () => {
    // Reading begins anew at the committed offsets, where every part is that is still needed.
    partitions.clear()
    on.onState(true)
  })
  consumer.on(consumer.events.CRASH, ({ payload }: ConsumerCrashEvent) => {
    on.onState(false)
    if (!payload.restart) on.onDead(payload.error.message)
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 64,
    eachBatch: async (payload) => {
      const { partition, messages } = payload.batch
      const state = partitions.get(partition) ?? new PartitionState()
      partitions.set(partition, state)
      state.isBusy = true
      try {
        counts.abandoned += await giveUp(partition, state, { log: Number(messages[0]?.timestamp ?? 0) }, unfinished)
        counts.messages += await takeBatch(payload, state, { sink, sliceMessages, leaving: leaving.signal, heartbeatInterval })
      } finally {
        state.isBusy = false
        state.idleSince = performance.now()
      }
    },
  })
  const stopLooking = lookAfterIdle(partitions, unfinished, async (partition, offset, abandoned) => {
    counts.abandoned += abandoned
    await consumer.commitOffsets([{ topic, partition, offset: String(offset) }])
  })
  return {
    leave: async () => {
      stopLooking()
      leaving.abort()
      on.onState(false)
      await consumer.disconnect().catch(() => {})
    },
  }
}

/** Slice by slice: store, then commit. Returns early, with nothing lost, where the partition is no longer ours. @returns how many messages were taken */
async function takeBatch(
  { batch, resolveOffset, heartbeat, commitOffsetsIfNecessary, isRunning, isStale }: EachBatchPayload,
  state: PartitionState,
  {
    sink,
    sliceMessages,
    leaving,
    heartbeatInterval,
  }: Pick<IngesterOptions, 'sink'> & {
    sliceMessages: number | undefined
    leaving: AbortSignal
    heartbeatInterval: number
  },
): Promise<number> {
  let taken = 0
  for (const slice of slicesOf(batch.messages, sliceMessages)) {
    if (!isRunning() || isStale() || leaving.aborted) return taken
    const abandoned = new AbortController()
    const stop = () => abandoned.abort()
    leaving.addEventListener('abort', stop)
    try {
      const work = sink.store({ topic: batch.topic, partition: batch.partition, messages: slice, joiner: state.joiner }, abandoned.signal)
      await beatingUntil(work, heartbeat, heartbeatInterval)
      if (abandoned.signal.aborted) return taken
    } catch (error) {
      stop()
      throw error
    } finally {
      leaving.removeEventListener('abort', stop)
    }
    state.joiner.settle()
    state.next = offsetAfter(slice)
    resolveOffset(String(state.next - 1n))
    const offset = String(state.committable)
    await commitOffsetsIfNecessary({ topics: [{ topic: batch.topic, partitions: [{ partition: batch.partition, offset }] }] })
    await heartbeat()
    taken += slice.length
  }
  return taken
}

/** Waits for the work and tells the group meanwhile that we live. A refused heartbeat ends the waiting: the partition goes to another. */
async function beatingUntil(work: Promise<void>, heartbeat: () => Promise<void>, intervalMs: number): Promise<void> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  // A heartbeat that fails leaves the work unobserved; its end is of no interest then.
  done.catch(() => {})
  while (!isDone) {
    await Promise.race([done, sleep(intervalMs / 2)])
    if (!isDone) await heartbeat()
  }
  await done
}

function offsetAfter(slice: readonly KafkaMessage[]): bigint {
  return BigInt(slice.at(-1)?.offset ?? '-1') + 1n
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
