// The queue of one process: rows go straight into the store, in groups; durable means inserted.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'
import type { Store } from '../../store/index.ts'
import { GroupCommit } from './group-commit.ts'
import type { Queue } from './types.ts'

/** So long after a refused insert the process is not ready; then it is tried again. */
const unreadyMs = 10_000

/** The store stays the caller's to close. */
export function directQueue(
  store: Pick<Store, 'insertSpans' | 'insertFeedback' | 'ping'>,
  /** Monotonic milliseconds. */
  now: () => number = () => performance.now(),
): Queue {
  // A store may answer and yet take nothing: a full disk, too many parts.
  let refusedAt = Number.NEGATIVE_INFINITY
  const noting = async (insert: Promise<void>): Promise<void> => {
    try {
      await insert
      refusedAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      refusedAt = now()
      throw error
    }
  }
  const spans = new GroupCommit<SpanRow>({ commit: (rows) => noting(store.insertSpans(rows)) })
  const feedback = new GroupCommit<FeedbackRow>({ commit: (rows) => noting(store.insertFeedback(rows)), concurrency: 1 })
  return {
    publishSpans: (rows, bytes) => spans.add(rows, bytes),
    publishFeedback: (rows) => feedback.add(rows, 0),
    ready: async () => now() - refusedAt > unreadyMs && (await store.ping()),
    close: async () => {
      await Promise.all([spans.drained(), feedback.drained()])
    },
  }
}
