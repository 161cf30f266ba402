// The queue of one process: rows go straight into the store, in groups; durable means inserted.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'
import type { Store } from '../../store/index.ts'
import { GroupCommit } from './group-commit.ts'
import type { Queue } from './types.ts'

/** The store stays the caller's to close. */
export function directQueue(store: Pick<Store, 'insertSpans' | 'insertFeedback' | 'ping'>): Queue {
  const spans = new GroupCommit<SpanRow>({ commit: (rows) => store.insertSpans(rows) })
  const feedback = new GroupCommit<FeedbackRow>({ commit: (rows) => store.insertFeedback(rows), concurrency: 1 })
  return {
    publishSpans: (rows, bytes) => spans.add(rows, bytes),
    publishFeedback: (rows) => feedback.add(rows, 0),
    ready: () => store.ping(),
    close: async () => {
      await Promise.all([spans.drained(), feedback.drained()])
    },
  }
}
