// Plays one task once: sets up tape, model and clock, lets the harness play, and says how it ended. A rollout that fails is a result too; only an aborted run rejects.
import { type Episode, errorText, HomegroundError, type ModelCall, type Usage } from '@homeground/sdk/trace'
import { conversationOf, lanesOf } from '../environment/conversation.ts'
import { answerCache } from '../gateway/answer-cache.ts'
import { ArmGate } from '../gateway/arm-gate.ts'
import { type ArmModelOptions, armModel } from '../gateway/arm-model.ts'
import { type RecordedLane, recordedModel } from '../gateway/recorded-model.ts'
import type { GatewayAnswer, ModelSource } from '../gateway/types.ts'
import { addUsage, type Billed } from '../rubric/bill.ts'
import { Tape } from '../tape/tape.ts'
import { announcing } from './announcing.ts'
import { playCommand } from './command.ts'
import { Deadline } from './deadline.ts'
import { rounded } from './episode-recorder.ts'
import { failedResult } from './failed-result.ts'
import { loadAgent } from './load-agent.ts'
import { playLoop } from './loop.ts'
import { playModule } from './module.ts'
import { BudgetSpent, RolloutBudget } from './rollout-budget.ts'
import { rolloutSeed, seededIds } from './seeded.ts'
import { openSimulator, type Simulator } from './simulator.ts'
import { toolAnswers } from './tool-answers.ts'
import { toolSimulator } from './tool-simulator.ts'
import type { Harness, Played, RolloutDeps, RolloutJob, RolloutResult } from './types.ts'
import { type UserSimulator, userSimulator } from './user-simulator.ts'
import { systemTimers, VirtualClock } from './virtual/virtual-clock.ts'

/** @throws HomegroundError for wrong settings (an arm, a mock, a module that is not there); what `deps.signal` was aborted with */
export async function executeRollout(
  job: RolloutJob,
  deps: RolloutDeps,
  /** `onBegin`: its time runs from now, again after `onWait` too. `onWait`: it waits for its turn, and its time stands still. */
  options: { onBegin?(): void; onWait?(): void } = {},
): Promise<RolloutResult> {
  // Loading the product is not the rollout's time.
  if (job.harness.kind === 'module') await loadAgent(job)
  options.onBegin?.()
  const started = deps.monotonicMs()
  const stopping = new AbortController()
  const signal = deps.signal === undefined ? stopping.signal : AbortSignal.any([deps.signal, stopping.signal])
  const tape = new Tape(job.entries, { tools: job.tools, allowLive: job.allowLive })
  const seen: Seen = { failures: [], untranslated: new Set(), cachedCalls: 0, tokens: new Map() }
  const deadline = new Deadline(timeoutOf(job), () => stopping.abort(timeout(job, seen)))
  const onWait = (): (() => void) => {
    deadline.hold()
    options.onWait?.()
    return () => {
      deadline.letGo()
      options.onBegin?.()
    }
  }
  const onRetry = (trouble: string): void => {
    seen.trouble = trouble
  }
  const budget = new RolloutBudget(job, (reason) => stopping.abort(reason))
  const model = budget.limited(watched(announcing(sourceOf(job, deps, { onWait, onRetry }), tape), job, seen))
  const stop = (reason: HomegroundError): void => stopping.abort(reason)
  const clock = recordedClock(job, deps)
  const simulator = job.simulator === undefined ? undefined : openSimulator(job, job.simulator, { deps, signal, budget })
  const simulatedTools = simulator === undefined ? undefined : toolSimulator(job, simulator, stop)
  const user = simulatedUser(job, simulator, stop)
  const tools = toolAnswers({
    tape,
    folder: job.folder,
    stop,
    ...latencyOf(job, deps, signal),
    ...(simulatedTools === undefined ? {} : { simulate: simulatedTools.answer }),
  })
  let played: Played
  try {
    played = await harnessOf(job)({
      job,
      model,
      tape,
      tools,
      deps,
      signal,
      ids: seededIds(rolloutSeed(job)),
      clock,
      stop,
      ...(user === undefined ? {} : { user }),
    })
  } catch (error) {
    // A product may do what no harness foresees (throw what cannot be looked at, replace JSON.stringify): that is its rollout's failure, not the run's.
    if (job.harness.kind !== 'module' || HomegroundError.is(error) || deps.signal?.aborted === true) throw error
    const message = `what the product did cannot be made an episode: ${errorText(error)}`
    return failedResult(job, { stop: 'error', error: { type: 'crash', message }, durationMs: rounded(deps.monotonicMs() - started) })
  } finally {
    deadline.close()
    clock.close()
  }
  deps.signal?.throwIfAborted()
  return resultOf(played, {
    tape,
    reason: stopping.signal.reason,
    seen,
    simulated: simulatedTools?.count() ?? 0,
    simulators: simulator?.billed(),
    durationMs: rounded(deps.monotonicMs() - started),
  })
}

function harnessOf(job: RolloutJob): Harness {
  switch (job.harness.kind) {
    case 'loop':
    case 'turn':
      return playLoop
    case 'module':
      return playModule
    case 'command':
      return playCommand
  }
}

/** The recorded arm hears its own user. */
function simulatedUser(
  job: RolloutJob,
  simulator: Simulator | undefined,
  stop: (reason: HomegroundError) => void,
): UserSimulator | undefined {
  if (job.simulatedUser !== true || job.arm.model === 'recorded') return undefined
  if (simulator !== undefined && job.harness.kind === 'loop') return userSimulator(simulator, stop)
  const missing = simulator === undefined ? 'env.json has no simulator' : `harness ${job.harness.kind} has no user to play`
  throw new HomegroundError('invalid-settings', `the user is to be simulated, and ${missing}`, {
    hint: 'give env.json a simulator ({ "model": … }) and harness loop, or user.mode recorded; then homeground env seal',
  })
}

function sourceOf(job: RolloutJob, deps: RolloutDeps, told: Pick<ArmModelOptions, 'onWait' | 'onRetry'>): ModelSource {
  if (job.arm.model !== 'recorded') {
    return armModel(job.arm, deps, {
      gate: job.gate === undefined ? undefined : new ArmGate(job.gate),
      cache: job.cache === undefined ? undefined : answerCache(job.cache, job),
      ...told,
    })
  }
  if (job.recording === undefined) {
    throw new HomegroundError('environment-invalid', `task ${job.task.id}: recordings.jsonl.gz has no episode of it`, {
      hint: 'build the environment again',
    })
  }
  return recordedModel(recordedCalls(job, job.recording))
}

/** A loop plays the main conversation (a turn: from its first call on), a product all lanes. */
function recordedCalls(job: RolloutJob, recording: Episode): RecordedLane[] {
  if (job.harness.kind === 'loop' || job.harness.kind === 'turn') {
    const calls = conversationOf(recording)?.calls ?? []
    const from = calls.findIndex((call) => call.id === job.task.source.step)
    return [{ lane: undefined, calls: calls.slice(Math.max(0, from)) }]
  }
  const lanes = lanesOf(recording, { session: job.unit === 'session' })
  const models = recording.steps.filter((step): step is ModelCall => step.kind === 'model')
  return [...new Set(models.map((call) => lanes.get(call.id)))].map((lane) => ({
    lane,
    calls: models.filter((call) => lanes.get(call.id) === lane),
  }))
}

/** What the model's answers said, over a rollout. */
interface Seen {
  /** Calls that failed in the end: a score made of a broken endpoint would be a lie. */
  failures: GatewayAnswer[]
  /** Why a call that has no answer yet is tried again. */
  trouble?: string
  untranslated: Set<string>
  cachedCalls: number
  /** Token ids by the response's id: a product whose client speaks another dialect cannot have recorded them. */
  tokens: Map<string, NonNullable<GatewayAnswer['tokens']>>
}

function watched(source: ModelSource, job: RolloutJob, seen: Seen): ModelSource {
  if (job.arm.model === 'recorded') return source
  return {
    async answer(request) {
      const answer = await source.answer(request)
      if (answer.response === undefined) seen.failures.push(answer)
      delete seen.trouble
      for (const name of answer.untranslated) seen.untranslated.add(name)
      if (answer.cached === true) seen.cachedCalls += 1
      if (answer.tokens !== undefined && answer.response?.id !== undefined) seen.tokens.set(answer.response.id, answer.tokens)
      return answer
    },
  }
}

/** The product's own clock moves by what was recorded; elsewhere nobody waits unless asked to. */
function latencyOf(
  { latency, harness }: RolloutJob,
  deps: RolloutDeps,
  signal: AbortSignal,
): { latency?: number; wait?(ms: number): Promise<void> } {
  if (latency === undefined) return {}
  if (harness.kind === 'module') return { latency }
  // Stopped in mid-wait: the harness sees it by its signal.
  return { latency, wait: (ms) => deps.sleep(ms, signal).catch(() => {}) }
}

/** Begins when the task was recorded. */
function recordedClock(job: RolloutJob, deps: RolloutDeps): VirtualClock {
  const recorded = Date.parse(job.task.source.startedAt ?? '')
  return new VirtualClock(Number.isNaN(recorded) ? deps.now() : recorded, systemTimers)
}

function timeoutOf(job: RolloutJob): number | undefined {
  return job.harness.timeoutMs
}

function timeout(job: RolloutJob, { trouble }: Seen): Error {
  const why = trouble === undefined ? '' : `, in which ${trouble}`
  return Object.assign(new Error(`the rollout took longer than ${timeoutOf(job)} ms${why}`), { name: 'TimeoutError' })
}

interface End {
  tape: Tape
  reason: unknown
  seen: Seen
  simulated: number
  simulators: Billed | undefined
  durationMs: number
}

function resultOf(played: Played, end: End): RolloutResult {
  const report = end.tape.report()
  const divergence = end.tape.divergence()
  const { stop, error } = endOf(played, end)
  return {
    episode: withTokens(played.episode, end.seen.tokens),
    stop,
    ...(error === undefined ? {} : { error }),
    offTape: report.offTape,
    unconsumed: report.unconsumed,
    unconsumedWrites: report.unconsumedWrites,
    staleReads: report.staleReads,
    live: report.live,
    ...(end.simulated === 0 ? {} : { simulated: end.simulated }),
    ...(end.simulators === undefined ? {} : { simulators: end.simulators }),
    ...(played.userTurns === undefined ? {} : { userTurns: played.userTurns }),
    ...(divergence === undefined ? {} : { divergence }),
    ...(end.seen.untranslated.size === 0 ? {} : { untranslated: [...end.seen.untranslated] }),
    ...(end.seen.cachedCalls === 0 ? {} : { cachedCalls: end.seen.cachedCalls }),
    usage: usageOf(played.episode),
    durationMs: end.durationMs,
  }
}

function endOf(played: Played, { reason, seen: { failures } }: End): Pick<RolloutResult, 'stop' | 'error'> {
  if (HomegroundError.is(reason) && reason.code === 'off-tape')
    return { stop: 'off-tape', error: { type: 'off-tape', message: reason.message } }
  if (reason instanceof BudgetSpent) return { stop: reason.budget }
  if (HomegroundError.is(reason)) return { stop: 'error', error: { type: reason.code, message: `${reason.message}: ${reason.hint}` } }
  if (reason instanceof Error && reason.name === 'TimeoutError')
    return { stop: 'timeout', error: { type: 'timeout', message: reason.message } }
  const [failure] = failures
  if (failure !== undefined)
    return { stop: 'error', error: { type: String(failure.status), message: JSON.stringify(failure.body).slice(0, 500) } }
  return { stop: played.stop, ...(played.error === undefined ? {} : { error: played.error }) }
}

function withTokens(episode: Episode, tokens: Seen['tokens']): Episode {
  if (tokens.size === 0) return episode
  const steps = episode.steps.map((step) => {
    const found = step.kind === 'model' && step.tokens === undefined ? tokens.get(step.response?.id ?? '') : undefined
    return found === undefined ? step : { ...step, tokens: found }
  })
  return { ...episode, steps }
}

/** Sums over all model calls; absent where no call said it. */
export function usageOf(episode: Episode): Usage {
  const sum: Usage = {}
  for (const step of episode.steps) if (step.kind === 'model') addUsage(sum, step.response?.usage ?? {})
  return sum
}
