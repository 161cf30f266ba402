// Values whose sender died between two parts: they would hold their partition's commit for ever. After longer than any sender tries they are laid aside and passed over.

import { errorText } from '@homeground/sdk/trace'
import type { Log } from '../../http/types.ts'
import { type AbandonedValue, type PartClock, PartJoiner } from './parts.ts'
import type { RowSink } from './row-sink.ts'

/** How far one partition has been read. */
export class PartitionState {
  readonly joiner = new PartJoiner()
  /** The offset after the last message that was taken. */
  next = 0n
  isBusy = false
  /** Monotonic milliseconds. */
  idleSince = 0

  /** What may be committed: nothing from the first part of an unfinished value on. */
  get committable(): bigint {
    const earliest = this.joiner.earliestOffset()
    return earliest === undefined || earliest > this.next ? this.next : earliest
  }
}

export interface UnfinishedOptions {
  topic: string
  partsDeadlineMs: number
  /** Without one, a value that never came whole is only forgotten. */
  sink: Partial<Pick<RowSink, 'layAside'>>
  log: Log
  leaving: AbortSignal
}

/** Lays aside what nobody is still sending. @returns how many */
export async function giveUp(partition: number, { joiner }: PartitionState, clock: PartClock, options: UnfinishedOptions): Promise<number> {
  const { topic, partsDeadlineMs, sink, log, leaving } = options
  const abandoned = joiner.overdue(clock, partsDeadlineMs)
  if (abandoned.length === 0) return 0
  log.warn({ abandoned: abandoned.length, partition }, 'values without all their parts given up; their senders were never answered')
  const letters = abandoned.map((value) => letterOf(topic, partition, value, partsDeadlineMs))
  if (sink.layAside !== undefined && !(await sink.layAside(letters, leaving))) return 0
  joiner.forget(abandoned)
  return abandoned.length
}

/**
 * Nothing more may come on a partition for a long time, and then no batch looks after what is unfinished there: looks every few seconds at those that are idle.
 * `commit`: told where a partition stands once something was given up. @returns ends it
 */
export function lookAfterIdle(
  partitions: ReadonlyMap<number, PartitionState>,
  options: UnfinishedOptions,
  commit: (partition: number, offset: bigint, abandoned: number) => Promise<void>,
): () => void {
  const idleMs = Math.min(5_000, options.partsDeadlineMs)
  let isLooking = false
  const look = async () => {
    for (const [partition, state] of partitions) {
      if (state.isBusy || performance.now() - state.idleSince < idleMs) continue
      const abandoned = await giveUp(partition, state, { log: 0, read: performance.now() }, options)
      if (abandoned > 0) await commit(partition, state.committable, abandoned)
    }
  }
  const timer = setInterval(async () => {
    if (isLooking) return
    isLooking = true
    try {
      await look()
    } catch (error) {
      // The partition may have gone to another member, which does the same.
      options.log.warn({ error: errorText(error) }, 'could not give up unfinished values; tries again')
    } finally {
      isLooking = false
    }
  }, idleMs)
  return () => clearInterval(timer)
}

function letterOf(topic: string, partition: number, { offset, trace, value, parts, of }: AbandonedValue, limitMs: number) {
  const reason = `only ${parts} of ${of} parts came within ${limitMs / 1000} s; the sender was not told that it is stored`
  return { id: `${topic}/${partition}/${offset}`, reason, trace, value }
}
