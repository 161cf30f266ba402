// Pairs two arms by task: the mean of the candidate's tries less the mean of the baseline's, with the session each task belongs to.
import type { Tally, TaskTally } from './tally.ts'

export interface Paired {
  /** One a task that both arms have a value for. */
  deltas: number[]
  /** Its session, numbered from 0 among those that occur. */
  sessionOf: number[]
  tasks: { task: string; session: string }[]
}

/** @param value which figures of a task's tries to average; null and undefined ones are left out */
export function pairedDeltas(
  tally: Tally,
  baseline: string,
  candidate: string,
  value: (tries: TaskTally, side: 'baseline' | 'candidate') => (number | null | undefined)[],
): Paired {
  const numbers = new Map<string, number>()
  const paired: Paired = { deltas: [], sessionOf: [], tasks: [] }
  for (const item of tally.tasks) {
    const a = tally.arms.get(baseline)?.get(item.task)
    const b = tally.arms.get(candidate)?.get(item.task)
    if (!a || !b) continue
    const from = mean(value(a, 'baseline'))
    const to = mean(value(b, 'candidate'))
    if (from === undefined || to === undefined) continue
    const number = numbers.get(item.session) ?? numbers.size
    numbers.set(item.session, number)
    paired.deltas.push(to - from)
    paired.sessionOf.push(number)
    paired.tasks.push(item)
  }
  return paired
}

function mean(values: readonly (number | null | undefined)[]): number | undefined {
  let sum = 0
  let count = 0
  for (const value of values)
    if (value !== null && value !== undefined) {
      sum += value
      count += 1
    }
  return count === 0 ? undefined : sum / count
}
