// The harness `module`: the product's own agent function, run inside the seam. Its model calls go to the arm, its tools and reads to the tape; the product's SDK records it.
import { type SeamState, withSeam } from '@homeground/sdk/seam'
import { HomegroundError, isJson, type Json, type SpanRecord } from '@homeground/sdk/trace'
import { loadAgent } from './load-agent.ts'
import { moduleSeam } from './module-seam.ts'
import { readAnswer } from './read-answer.ts'
import { rolloutAttributes } from './rollout-attributes.ts'
import { rolloutSeed, seededRandom } from './seeded.ts'
import { episodeOfSpans } from './span-episode.ts'
import type { Harness, Played, RolloutJob } from './types.ts'
import { type RolloutScope, rolloutScope } from './virtual/scope.ts'

export const playModule: Harness = async (play) => {
  const { job, signal } = play
  const agent = await loadAgent(job)
  const spans: SpanRecord[] = []
  const state: SeamState = {
    attributes: rolloutAttributes(job),
    traceId: play.ids.trace,
    spanId: play.ids.span,
    record: (span) => spans.push(span),
  }
  const random = seededRandom(rolloutSeed(job))
  const seam = moduleSeam(play, random)
  const { allowNetwork = [], allowProcesses = false } = job.harness.kind === 'module' ? job.harness : {}
  const scope: RolloutScope = { clock: play.clock, random, allowNetwork, allowProcesses, blocked: play.stop }
  const calls = callsOf(job)
  const userTurns = { served: 0, afterDivergence: 0 }
  const startedAtMs = play.deps.now()
  const started = play.deps.monotonicMs()
  let output: unknown
  let error: Played['error']
  try {
    for (const [index, given] of calls.entries()) {
      if (index > 0) {
        userTurns.served += 1
        if (play.tape.divergence(index - 1) !== undefined) userTurns.afterDivergence += 1
      }
      const turn = () => withSeam({ seam, state, signal }, async () => await readAnswer(await agent(...structuredClone(given))))
      output = await abortable(signal, rolloutScope.run(scope, turn))
    }
  } catch (thrown) {
    error = errorOf(thrown)
  }
  const episode = episodeOfSpans(spans, {
    job,
    ids: play.ids,
    startedAtMs,
    durationMs: play.deps.monotonicMs() - started,
    output: jsonOf(output),
    error,
  })
  return {
    episode,
    stop: error === undefined ? 'done' : 'error',
    ...(error === undefined ? {} : { error }),
    ...(userTurns.served > 0 ? { userTurns } : {}),
  }
}

/** The arguments of each run of the agent. */
function callsOf({ unit, task }: RolloutJob): Json[][] {
  const inputs = unit === 'session' && Array.isArray(task.input) ? task.input : [task.input ?? null]
  return inputs.map((input, run): Json[] => {
    const count = task.arguments?.[run] ?? 1
    if (count === 0) return []
    return count > 1 && Array.isArray(input) ? input : [input]
  })
}

/** A product that never settles must not hold the rollout: it ends when the signal says so. */
async function abortable<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([running, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    running.catch(() => {})
  }
}

/** What is no JSON, or goes in circles, is no output: so it is when it is recorded. */
function jsonOf(output: unknown): Json | undefined {
  try {
    return isJson(output) ? output : undefined
  } catch {
    return undefined
  }
}

function errorOf(thrown: unknown): { type: string; message: string } {
  if (HomegroundError.is(thrown)) return { type: thrown.code, message: thrown.message }
  return thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { type: 'Error', message: String(thrown) }
}
