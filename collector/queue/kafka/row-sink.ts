// What the ingester does with a slice: rows into the store in groups with those of other partitions, and what can never be stored to the dead letters.
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import type { KafkaMessage } from 'kafkajs'
import type { ReceivedFeedbackRow, ReceivedSpanRow, Store } from '../../../store/index.ts'
import type { Log } from '../../http/types.ts'
import { GroupCommit } from '../group-commit.ts'
import type { DeadLetter } from './dead-letter.ts'
import type { PartJoiner } from './parts.ts'
import { decodePayload, encodeRows, type Payload } from './payload.ts'

export interface Slice {
  topic: string
  partition: number
  messages: readonly KafkaMessage[]
  joiner: PartJoiner
}

export interface RowSink {
  /** Resolves when every row of the slice is in the store or a dead letter, or, with that undone, once the signal has come. */
  store(slice: Slice, signal: AbortSignal): Promise<void>
  /** Makes these dead letters, as `store` does with what can never be stored. False where the signal came first. */
  layAside(letters: readonly Omit<DeadLetter, 'at'>[], signal: AbortSignal): Promise<boolean>
  counts(): { rows: number; deadLetters: number }
}

export interface RowSinkOptions {
  store: Pick<Store, 'insertSpans' | 'insertFeedback'>
  /** Makes dead letters durable. */
  bury(letters: readonly DeadLetter[]): Promise<void>
  log: Log
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
  /** First pause after a failed insert; it doubles up to a hundred times that. @default 100 */
  pauseMs?: number
}

interface Sourced {
  payload: Payload
  bytes: number
  id: string
}

/** An insert that is refused, not just late, is tried this often before the row at fault is looked for: a refusal may pass, as when the schema is being changed. */
const refusalsBeforeSearch = 3

export function rowSink(options: RowSinkOptions): RowSink {
  const { store, log, now = Date.now, pauseMs = 100 } = options
  const counts = { rows: 0, deadLetters: 0 }
  const spans = new GroupCommit<ReceivedSpanRow>({ commit: (rows) => store.insertSpans(rows) })
  const feedback = new GroupCommit<ReceivedFeedbackRow>({ commit: (rows) => store.insertFeedback(rows) })

  const insertGrouped = ({ payload, bytes }: Sourced) =>
    payload.kind === 'spans' ? spans.add(payload.rows, bytes) : feedback.add(payload.rows, bytes)
  const insertAlone = (payload: Payload) =>
    payload.kind === 'spans' ? store.insertSpans(payload.rows) : store.insertFeedback(payload.rows)

  /** Tries until it succeeds, is refused (true: give up and look for the row), or the signal comes. */
  async function persist(insert: () => Promise<unknown>, refusals: number, signal: AbortSignal): Promise<'done' | 'refused' | 'left'> {
    let refused = 0
    for (let pause = pauseMs; !signal.aborted; pause = Math.min(pause * 2, pauseMs * 100)) {
      try {
        await insert()
        return 'done'
      } catch (error) {
        const isLate = !HomegroundError.is(error) || error.retryable || error.code === 'store-unavailable'
        if (!isLate && ++refused >= refusals) return 'refused'
        log.warn({ error: errorText(error) }, isLate ? 'the store is away; rows wait in Kafka' : 'the store refuses rows')
      }
      await sleep(pause, signal)
    }
    return 'left'
  }

  async function bury(letters: readonly DeadLetter[], signal: AbortSignal): Promise<boolean> {
    if (letters.length === 0) return true
    for (const letter of letters) log.error({ id: letter.id, reason: letter.reason }, 'dead letter')
    const outcome = await persist(() => options.bury(letters), Number.POSITIVE_INFINITY, signal)
    if (outcome === 'done') counts.deadLetters += letters.length
    return outcome === 'done'
  }

  /** Row by row; what is refused by itself becomes a dead letter. */
  async function search({ payload, id }: Sourced, signal: AbortSignal): Promise<void> {
    for (const [n, one] of rowByRow(payload).entries()) {
      let reason = ''
      const insert = async () => {
        try {
          await insertAlone(one)
        } catch (error) {
          reason = errorText(error)
          throw error
        }
      }
      const outcome = await persist(insert, 1, signal)
      if (outcome === 'left') return
      if (outcome === 'done') counts.rows += 1
      else {
        const letters = encodeRows(one.kind, one.rows, 0, () => 0n).map(({ key, value }) => letterOf(`${id}#${n}`, reason, key, value))
        await bury(letters, signal)
      }
    }
  }

  const letterOf = (id: string, reason: string, trace: string, value: Buffer): DeadLetter => ({
    id,
    reason,
    at: new Date(now()).toISOString(),
    trace,
    value,
  })

  return {
    counts: () => ({ ...counts }),
    layAside: (letters, signal) =>
      bury(
        letters.map(({ id, reason, trace, value }) => letterOf(id, reason, trace, value)),
        signal,
      ),
    store: async (slice, signal) => {
      const { payloads, unreadable } = readSlice(slice)
      await bury(
        unreadable.map(({ id, reason, trace, value }) => letterOf(id, reason, trace, value)),
        signal,
      )
      const outcome = await persist(() => Promise.all(payloads.map(insertGrouped)), refusalsBeforeSearch, signal)
      if (outcome === 'done') for (const { payload } of payloads) counts.rows += payload.rows.length
      if (outcome === 'refused') for (const sourced of payloads) await search(sourced, signal)
    },
  }
}

function rowByRow(payload: Payload): Payload[] {
  return payload.kind === 'spans'
    ? payload.rows.map((row) => ({ kind: 'spans', rows: [row] }))
    : payload.rows.map((row) => ({ kind: 'feedback', rows: [row] }))
}

function readSlice({ topic, partition, messages, joiner }: Slice): { payloads: Sourced[]; unreadable: Omit<DeadLetter, 'at'>[] } {
  const payloads: Sourced[] = []
  const unreadable: Omit<DeadLetter, 'at'>[] = []
  for (const message of messages) {
    const id = `${topic}/${partition}/${message.offset}`
    let value = message.value ?? Buffer.alloc(0)
    try {
      const whole = joiner.add(message)
      if (whole === undefined) continue
      value = whole
      payloads.push({ payload: decodePayload(value), bytes: value.length, id })
    } catch (error) {
      unreadable.push({ id, reason: errorText(error), trace: message.key?.toString() ?? '', value })
    }
  }
  return { payloads, unreadable }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
