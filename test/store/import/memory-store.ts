// A store in memory, for importers: keeps what was inserted, the last row of a span counts.
import { assembleEpisodes, type Episode, type FeedbackRow, type SpanRow } from '@homeground/sdk/trace'
import type { Store } from '../../../store/types.ts'

export interface MemoryStore extends Pick<Store, 'insertSpans' | 'insertFeedback'> {
  readonly rows: Map<string, SpanRow>
  readonly feedback: Map<string, FeedbackRow>
  inserts: number
  assembled(): Episode[]
}

export function memoryStore(): MemoryStore {
  const rows = new Map<string, SpanRow>()
  const feedback = new Map<string, FeedbackRow>()
  const store: MemoryStore = {
    rows,
    feedback,
    inserts: 0,
    insertSpans: async (inserted) => {
      store.inserts += 1
      for (const row of inserted) rows.set(`${row.project} ${row.traceId} ${row.spanId}`, row)
    },
    insertFeedback: async (inserted) => {
      store.inserts += 1
      for (const row of inserted) feedback.set(JSON.stringify([row.project, row.traceId, row.stepId, row.name, row.source]), row)
    },
    assembled: () => assembleEpisodes([...rows.values()], [...feedback.values()]),
  }
  return store
}
