// Several sources as one, in the order given.
import type { DatasetSource } from './types.ts'

/** A task that several sources have is given once, as the first has it. */
export function joinSources(sources: readonly DatasetSource[]): DatasetSource {
  return {
    async *candidates() {
      for (const source of sources) yield* source.candidates()
    },
    async *tasks() {
      const seen = new Set<string>()
      for (const source of sources) {
        for await (const task of source.tasks()) {
          if (seen.has(task.id)) continue
          seen.add(task.id)
          yield task
        }
      }
    },
  }
}
