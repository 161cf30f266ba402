// Compares arms, whatever they come from: a run's rollouts or recorded episodes. All pairs against one baseline.
import { HomegroundError } from '@homeground/sdk/trace'
import { comparePair } from './compare-pair.ts'
import { compareTwoSample, mixedSessions } from './compare-two-sample.ts'
import { summariseArm } from './summarise-arm.ts'
import { type Tally, tally } from './tally.ts'
import type { ArmSummary, Comparison, ComparisonSource, PairComparison } from './types.ts'

export interface CompareOptions {
  /** @default the first arm */
  baseline?: string | undefined
  /** @default every other arm */
  candidate?: string | undefined
  /** Equivalence margin on the primary score. @default 0.05 */
  margin?: number | undefined
}

/** From this share of outcomes off the tape on, a reader is told. */
const noteworthyOffTape = 0.2

/** @throws HomegroundError invalid-argument where an arm does not exist or there is only one */
export async function compare(source: ComparisonSource, options: CompareOptions = {}): Promise<Comparison> {
  const { baseline, candidates } = chooseArms(source, options)
  const read = await tally(source)
  const planned = source.planned ?? Math.max(...[...read.totals.values()].map((totals) => totals.outcomes))
  const finished = (arm: string) => source.planned === undefined || (read.totals.get(arm)?.outcomes ?? 0) >= source.planned
  const shown = source.arms.filter((arm) => arm.name === baseline || candidates.includes(arm.name))
  const arms = shown.map((arm) => summariseArm(read, arm, source.planned ?? read.totals.get(arm.name)?.outcomes ?? 0))
  const pairs = candidates.map((candidate) =>
    (source.design === 'two-sample' ? compareTwoSample : comparePair)(read, {
      baseline,
      candidate,
      margin: options.margin ?? 0.05,
      finished: finished(baseline) && finished(candidate),
      ...(source.tags && { tags: source.tags }),
    }),
  )
  return { format: 1, title: source.title, facts: source.facts, baseline, arms, pairs, notes: notesOn(read, arms, pairs, planned) }
}

function chooseArms(source: ComparisonSource, options: CompareOptions): { baseline: string; candidates: string[] } {
  const names = source.arms.map((arm) => arm.name)
  const hint = `the arms are ${names.join(', ')}`
  for (const name of [options.baseline, options.candidate])
    if (name !== undefined && !names.includes(name))
      throw new HomegroundError('invalid-argument', `there is no arm named ${name}`, { hint })
  const baseline = options.baseline ?? names.find((name) => name !== options.candidate)
  const candidates = options.candidate === undefined ? names.filter((name) => name !== baseline) : [options.candidate]
  if (baseline === undefined || candidates.length === 0 || candidates.includes(baseline))
    throw new HomegroundError('invalid-argument', 'a comparison needs two different arms', { hint })
  return { baseline, candidates }
}

function notesOn(read: Tally, arms: readonly ArmSummary[], pairs: readonly PairComparison[], planned: number): string[] {
  const notes: string[] = []
  const unpaired = pairs.some((pair) => pair.design === 'two-sample')
  for (const arm of arms) {
    if (arm.outcomes < arm.planned) notes.push(`${arm.name} has ${arm.outcomes} of ${arm.planned} planned outcomes.`)
    else if (arm.outcomes < planned && !unpaired) notes.push(`${arm.name} has ${arm.outcomes} outcomes where another arm has ${planned}.`)
    if (arm.nulls.count > 0) {
      const why = arm.nulls.reasons.slice(0, 3).map(({ reason, count }) => `${reason} (${count})`)
      notes.push(`${arm.name} has no score for ${arm.nulls.count} of ${arm.outcomes} outcomes: ${why.join(', ')}.`)
    }
  }
  for (const { name, offTape, outcomes } of arms) {
    if (offTape.share < noteworthyOffTape) continue
    notes.push(
      `${name} left the tape in ${offTape.outcomes} of ${outcomes} outcomes: tools answered it with errors that production may not give. Compare "on tape only", record more like it, or mock those tools.`,
    )
  }
  for (const pair of pairs) {
    if (pair.design === 'two-sample') {
      notes.push(...notesOnSamples(read, pair))
      continue
    }
    const left = read.tasks.length - pair.primary.tasks
    if (left > 0)
      notes.push(
        `${left} of ${read.tasks.length} tasks are left out of ${pair.candidate} against ${pair.baseline}: one side has no score there.`,
      )
  }
  return notes
}

function notesOnSamples(read: Tally, { baseline, candidate, shown }: PairComparison): string[] {
  const notes = [
    `${candidate} against ${baseline} is a comparison of two samples: no episode of one arm has a counterpart in the other, so what differs between their sessions is in the interval.`,
  ]
  const mixed = mixedSessions(read, baseline, candidate).size
  if (mixed > 0) notes.push(`${mixed} sessions saw both ${baseline} and ${candidate} and are left out of their comparison.`)
  if (shown.coverage && Math.min(shown.coverage.baseline, shown.coverage.candidate) < 1)
    notes.push(
      `The verdict is about the episodes that have a score: ${percent(shown.coverage.baseline)} of ${baseline}, ${percent(shown.coverage.candidate)} of ${candidate}.`,
    )
  return notes
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
