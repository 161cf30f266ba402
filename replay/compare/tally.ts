// Reads a source's outcomes once into what comparisons need: by arm and task the scores, costs and times. One number each, so 100,000 tasks fit in memory.
import { HomegroundError } from '@homeground/sdk/trace'
import { type Asked, addAsked, nobodyAsked } from '../rubric/bill.ts'
import type { ComparisonSource, Outcome } from './types.ts'

/** One arm's tries at one task. */
export interface TaskTally {
  scores: (number | null)[]
  /** Of the tries that never left the tape. */
  onTapeScores: (number | null)[]
  /** By criterion, in the order of `Tally.criteria`. */
  criteria: (number | null)[][]
  offTapeCalls: number
  costs: (number | undefined)[]
  durations: number[]
}

export interface Tally {
  /** In order of first appearance. */
  tasks: { task: string; session: string }[]
  criteria: { name: string; weight: number }[]
  /** By arm, by task. */
  arms: Map<string, Map<string, TaskTally>>
  /** By arm. */
  totals: Map<string, ArmTotals>
}

export interface ArmTotals {
  outcomes: number
  nullReasons: Map<string, number>
  nulls: number
  errors: number
  stops: Map<string, number>
  offTapeOutcomes: number
  offTapeCalls: number
  userTurns: { served: number; afterDivergence: number }
  unconsumedWrites: number
  staleReads: number
  inputTokens: number[]
  outputTokens: number[]
  judges: Asked
  simulators: Asked
}

/** @throws HomegroundError invalid-input where one task appears under two sessions: its cluster would not be known */
export async function tally(source: ComparisonSource): Promise<Tally> {
  const names = new Set(source.arms.map((arm) => arm.name))
  const result: Tally = { tasks: [], criteria: [], arms: new Map(), totals: new Map() }
  for (const name of names) {
    result.arms.set(name, new Map())
    result.totals.set(name, emptyTotals())
  }
  const sessions = new Map<string, string>()
  for await (const outcome of source.outcomes()) {
    const byTask = result.arms.get(outcome.arm)
    const totals = result.totals.get(outcome.arm)
    if (!byTask || !totals) continue
    const session = sessions.get(outcome.task)
    if (session === undefined) {
      sessions.set(outcome.task, outcome.session)
      result.tasks.push({ task: outcome.task, session: outcome.session })
    } else if (session !== outcome.session)
      throw new HomegroundError('invalid-input', `task ${outcome.task} is in session ${session} and in session ${outcome.session}`, {
        hint: 'a task belongs to one session; statistics cluster by it',
      })
    addToTotals(totals, outcome)
    addToTask(result, byTask, outcome)
  }
  return result
}

function addToTask(result: Tally, byTask: Map<string, TaskTally>, outcome: Outcome): void {
  let task = byTask.get(outcome.task)
  if (!task) {
    task = { scores: [], onTapeScores: [], criteria: [], offTapeCalls: 0, costs: [], durations: [] }
    byTask.set(outcome.task, task)
  }
  task.scores.push(outcome.score)
  if (outcome.offTape.count === 0) task.onTapeScores.push(outcome.score)
  task.offTapeCalls += outcome.offTape.count
  task.costs.push(outcome.costUsd)
  task.durations.push(outcome.durationMs)
  for (const [name, { value, weight }] of Object.entries(outcome.scores)) {
    let at = result.criteria.findIndex((criterion) => criterion.name === name)
    if (at < 0) at = result.criteria.push({ name, weight }) - 1
    const values = task.criteria[at] ?? []
    values.push(value)
    task.criteria[at] = values
  }
}

function addToTotals(totals: ArmTotals, outcome: Outcome): void {
  totals.outcomes += 1
  if (outcome.score === null) {
    totals.nulls += 1
    const reason = nullReason(outcome)
    totals.nullReasons.set(reason, (totals.nullReasons.get(reason) ?? 0) + 1)
  }
  if (outcome.error) totals.errors += 1
  totals.stops.set(outcome.stop, (totals.stops.get(outcome.stop) ?? 0) + 1)
  if (outcome.offTape.count > 0) totals.offTapeOutcomes += 1
  totals.offTapeCalls += outcome.offTape.count
  totals.userTurns.served += outcome.userTurns?.served ?? 0
  totals.userTurns.afterDivergence += outcome.userTurns?.afterDivergence ?? 0
  totals.unconsumedWrites += outcome.unconsumedWrites ?? 0
  totals.staleReads += outcome.staleReads ?? 0
  addAsked(totals.judges, outcome.judges)
  addAsked(totals.simulators, outcome.simulators)
  if (outcome.inputTokens !== undefined) totals.inputTokens.push(outcome.inputTokens)
  if (outcome.outputTokens !== undefined) totals.outputTokens.push(outcome.outputTokens)
}

/** Why it has no score: in few words, so that like ones add up. */
export function nullReason(outcome: Pick<Outcome, 'stop' | 'error' | 'scores'>): string {
  if (outcome.stop !== 'done' && outcome.stop !== 'error') return outcome.stop
  if (outcome.error) return outcome.error.type
  const missing = Object.entries(outcome.scores).find(([, { value, weight }]) => value === null && weight > 0)
  return missing ? `${missing[0]}: ${missing[1].reason.slice(0, 120)}` : 'no score'
}

function emptyTotals(): ArmTotals {
  return {
    outcomes: 0,
    nullReasons: new Map(),
    nulls: 0,
    errors: 0,
    stops: new Map(),
    offTapeOutcomes: 0,
    offTapeCalls: 0,
    userTurns: { served: 0, afterDivergence: 0 },
    unconsumedWrites: 0,
    staleReads: 0,
    inputTokens: [],
    outputTokens: [],
    judges: nobodyAsked(),
    simulators: nobodyAsked(),
  }
}
