// The loop: collect, build, verify, audit, rollouts, dataset, tune, select, gate, and again, until nothing improves. Killed anywhere, the same call goes on.
import path from 'node:path'
import type { Json } from '@homeground/sdk/trace'
import { HomegroundError } from '@homeground/sdk/trace'
import { z } from 'zod'
import { releaseLock, takeLock } from '../../store/folder-lock.ts'
import { iterationFiles, planIteration } from './plan.ts'
import { type IterationProgress, LoopState, writeWhole } from './state.ts'
import type { Iteration, LoopFile, StepName } from './types.ts'

export interface LoopOptions {
  /** `.homeground/loops/NAME` */
  folder: string
  /** Runs `homeground …`; resolves with its exit code and what it printed on stdout. Rejects when it cannot be run, or was interrupted. */
  homeground(command: readonly string[]): Promise<{ code: number; stdout: string }>
  /** Before a step begins. */
  onStep?(step: StepName, iteration: number, command: readonly string[]): void
  signal?: AbortSignal
  now?: () => Date
}

/** Why it stopped. */
export type LoopEnd = 'no-new-episodes' | 'no-improvement' | 'iterations'

export interface LoopResult {
  end: LoopEnd
  iterations: Iteration[]
  /** The model that is live now. */
  live: string
}

/** Resolves when there is nothing more to do. @throws HomegroundError invalid-argument: another process runs it; step-failed: a step ended with 2 or 3; interrupted */
export async function runLoop(loop: LoopFile, options: LoopOptions): Promise<LoopResult> {
  const state = new LoopState(options.folder)
  const lock = path.join(options.folder, 'loop.lock')
  takeLock(lock, { place: options.folder, busy: 'is running this loop', hint: 'wait for it, stop it, or give the loop another name' })
  try {
    return await iterateToTheEnd(loop, state, options)
  } finally {
    releaseLock(lock)
  }
}

async function iterateToTheEnd(loop: LoopFile, state: LoopState, options: LoopOptions): Promise<LoopResult> {
  for (;;) {
    const past = state.iterations()
    const live = past.findLast((each) => each.outcome === 'promoted')?.candidate ?? loop.tune.base
    const end = endOf(loop, past)
    if (end !== undefined) return { end, iterations: past, live }
    const iteration = await iterate(loop, { state, live, past, options })
    if (iteration === undefined) return { end: 'no-new-episodes', iterations: past, live }
    state.finishIteration(iteration)
  }
}

function endOf(loop: LoopFile, past: readonly Iteration[]): LoopEnd | undefined {
  if (past.length >= loop.stop.iterations) return 'iterations'
  const last = past.slice(-loop.stop.patience)
  return last.length === loop.stop.patience && last.every((each) => each.outcome !== 'promoted') ? 'no-improvement' : undefined
}

interface Place {
  state: LoopState
  live: string
  past: readonly Iteration[]
  options: LoopOptions
}

/** Steps that may say no. */
const endingSteps = ['verify', 'audit', 'dataset', 'select'] as const

/** Undefined where too little is new. */
async function iterate(loop: LoopFile, place: Place): Promise<Iteration | undefined> {
  const { state, live, past, options } = place
  const now = options.now ?? (() => new Date())
  const progress = state.progress(now)
  const folder = state.iterationFolder(progress.iteration)
  const files = iterationFiles(folder)
  writeWhole(files.rules, JSON.stringify(loop.gate.rules))
  writeWhole(files.validationRules, JSON.stringify({ ...loop.gate.rules, split: 'validation', audit: false }))
  let episodes = 0
  let outcome: Iteration['outcome'] = 'promoted'
  let scores: Iteration['scores']
  let rollouts: Iteration['rollouts']
  for (const step of planIteration(loop, { folder, live })) {
    const printed = await runStep(step.name, step.command, { ...place, progress, now })
    if (step.name === 'collect') {
      episodes = episodesOf(printed, loop.collect.project)
      const before = past.at(-1)?.episodes ?? 0
      // An iteration that is under way is gone on with, whatever has been forgotten since.
      const begun = Object.keys(progress.done).length > 0
      if (episodes - before < loop.collect.newEpisodes && past.length > 0 && !begun) return undefined
    }
    if (step.name === 'rollouts') rollouts = rolloutsOf(printed)
    if (step.name === 'select' || step.name === 'gate') scores = scoresOf(printed)
    if (!isYes(step.name, printed)) {
      outcome = endingSteps.find((each) => each === step.name) ?? 'gate'
      break
    }
  }
  const seconds = Object.fromEntries(Object.entries(progress.done).map(([name, { seconds: took }]) => [name, took]))
  return {
    iteration: progress.iteration,
    startedAt: progress.startedAt,
    endedAt: now().toISOString(),
    episodes,
    outcome,
    baseline: live,
    candidate: files.model,
    ...(scores === undefined ? {} : { scores }),
    ...(rollouts === undefined ? {} : { rollouts }),
    seconds,
  }
}

async function runStep(
  name: StepName,
  command: readonly string[],
  { progress, state, options, now }: Place & { progress: IterationProgress; now: () => Date },
): Promise<Json> {
  const known = progress.done[name]
  if (known !== undefined) return known.printed
  options.signal?.throwIfAborted()
  options.onStep?.(name, progress.iteration, command)
  const startedAt = now().getTime()
  const { code, stdout } = await options.homeground(command)
  if (options.signal?.aborted === true) {
    throw new HomegroundError('interrupted', `the loop was stopped in ${name} of iteration ${progress.iteration}`, {
      hint: 'the same command goes on there',
    })
  }
  if (code > 1) {
    throw new HomegroundError(
      'step-failed',
      `${name} of iteration ${progress.iteration} ended with ${code}: homeground ${command.join(' ')}`,
      {
        hint: 'see its error above; mend it, and the same command goes on with this step',
      },
    )
  }
  const printed = parsePrinted(stdout, code)
  // Collecting is asked again each time: more may have come since.
  if (name !== 'collect') state.finishStep(progress, name, { printed, seconds: (now().getTime() - startedAt) / 1000 })
  return printed
}

/** What it printed, with how it ended beside. */
function parsePrinted(stdout: string, code: number): Json {
  try {
    return { code, value: JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null') }
  } catch {
    return { code, value: null }
  }
}

const answered = z.looseObject({ code: z.number() })
const counted = z.looseObject({ value: z.array(z.looseObject({ project: z.string(), episodes: z.number() })) })
const played = z.looseObject({
  value: z.looseObject({ arms: z.array(z.looseObject({ rollouts: z.number(), costUsd: z.number().optional() })) }),
})
const gated = z.looseObject({
  value: z.looseObject({
    baseline: z.looseObject({ score: z.number().nullable() }),
    candidate: z.looseObject({ score: z.number().nullable() }),
  }),
})

function episodesOf(printed: Json, project: string): number {
  return counted.safeParse(printed).data?.value.find((each) => each.project === project)?.episodes ?? 0
}

/** Of all arms; without a cost where one arm's price is not known. */
function rolloutsOf(printed: Json): Iteration['rollouts'] {
  const arms = played.safeParse(printed).data?.value.arms
  if (arms === undefined) return undefined
  const costs = arms.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]))
  const count = arms.reduce((sum, arm) => sum + arm.rollouts, 0)
  return costs.length < arms.length ? { count } : { count, costUsd: costs.reduce((sum, cost) => sum + cost, 0) }
}

function scoresOf(printed: Json): Iteration['scores'] {
  const sides = gated.safeParse(printed).data?.value
  return sides === undefined ? undefined : { baseline: sides.baseline.score, candidate: sides.candidate.score }
}

/** On `validation` a higher mean is enough to try the gate; everywhere else exit 1 is a no. */
function isYes(step: StepName, printed: Json): boolean {
  if (step === 'select') {
    const scores = scoresOf(printed)
    return scores !== undefined && scores.candidate !== null && scores.candidate > (scores.baseline ?? 0)
  }
  return answered.parse(printed).code === 0
}
