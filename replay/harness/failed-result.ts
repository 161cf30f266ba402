// The result of a rollout that left none: its thread died.
import { EpisodeRecorder } from './episode-recorder.ts'
import { rolloutSeed, seededIds } from './seeded.ts'
import type { RolloutJob, RolloutResult } from './types.ts'

export function failedResult(
  job: RolloutJob,
  end: { stop: string; error: { type: string; message: string }; durationMs: number },
): RolloutResult {
  const recorder = new EpisodeRecorder(job, { now: Date.now, monotonicMs: () => performance.now(), ids: seededIds(rolloutSeed(job)) })
  return {
    episode: { ...recorder.episode({ error: end.error }), durationMs: end.durationMs },
    stop: end.stop,
    error: end.error,
    offTape: { count: 0 },
    unconsumed: [],
    unconsumedWrites: [],
    staleReads: 0,
    live: [],
    usage: {},
    durationMs: end.durationMs,
  }
}
