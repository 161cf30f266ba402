// Recorded traffic straight from the store, without an environment: no splits, and a score only where feedback gives one.
import type { Episode, Feedback } from '@homeground/sdk/trace'
import type { EpisodeQuery, Store } from '../../store/index.ts'
import type { Candidate, DatasetSource } from './types.ts'

/** @param score name of the feedback that is the score: a number in [0, 1] or a yes or no; the last one said counts */
export function traceSource(store: Pick<Store, 'episodes'>, query: EpisodeQuery, score?: string): DatasetSource {
  return {
    async *candidates() {
      for await (const episode of store.episodes(query)) yield candidateOf(episode, score)
    },
    async *tasks() {},
  }
}

function candidateOf(episode: Episode, score: string | undefined): Candidate {
  const { task, arm, repeat } = episode.source
  return {
    episode,
    task: task ?? episode.id,
    session: episode.session,
    split: undefined,
    score:
      score === undefined ? undefined : scoreOf(episode.feedback.findLast(({ name, stepId }) => name === score && stepId === undefined)),
    ...(arm === undefined ? {} : { arm }),
    ...(repeat === undefined ? {} : { repeat }),
  }
}

/** `null` for what is no score: text, or a number outside [0, 1]. */
function scoreOf(said: Feedback | undefined): number | null {
  if (typeof said?.value === 'boolean') return said.value ? 1 : 0
  return typeof said?.value === 'number' && said.value >= 0 && said.value <= 1 ? said.value : null
}
