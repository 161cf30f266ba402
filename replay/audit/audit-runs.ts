// What runs say of the tasks: those that no arm ever solves, and those that every arm always solves, tell no two arms apart; those in which the product was stopped have no score.
import { advice, type StoppedBy, stoppedBy } from '../environment/cause.ts'
import type { Run } from '../run/types.ts'
import type { Finding } from './types.ts'

/** Tries that a task must have had. */
const fewestTries = 4

/** Empty where no task was tried often enough. */
export async function auditRuns(runs: readonly Run[]): Promise<Finding[]> {
  const tries = new Map<string, { count: number; best: number; worst: number }>()
  const stopped = new Map<StoppedBy, { tasks: Set<string>; first: string }>()
  for (const run of runs)
    for await (const { task, score, error } of run.rollouts()) {
      const cause = stoppedBy.find((type) => type === error?.type)
      if (cause !== undefined) {
        const { tasks = new Set<string>(), first = error?.message ?? '' } = stopped.get(cause) ?? {}
        stopped.set(cause, { tasks: tasks.add(task), first })
      }
      if (score === null) continue
      const { count, best, worst } = tries.get(task) ?? { count: 0, best: 0, worst: 1 }
      tries.set(task, { count: count + 1, best: Math.max(best, score), worst: Math.min(worst, score) })
    }
  const tried = [...tries].filter(([, { count }]) => count >= fewestTries)
  const nobody = tried.filter(([, { best }]) => best === 0).map(([task]) => task)
  const everybody = tried.filter(([, { worst }]) => worst === 1).map(([task]) => task)
  const finding = (kind: Finding['kind'], tasks: string[], sentence: string, hint: string): Finding[] =>
    tasks.length === 0 ? [] : [{ kind, where: 'tasks', severity: 'note', sentence, hint, tasks: tasks.slice(0, 10) }]
  return [
    ...finding(
      'nobody-solves',
      nobody,
      `${nobody.length} of ${tried.length} tasks scored 0 in every one of their tries (${fewestTries} or more): nobody solves them.`,
      'look whether they can be solved at all: a tape that lacks what they need, a reference that is wrong',
    ),
    ...finding(
      'everybody-solves',
      everybody,
      `${everybody.length} of ${tried.length} tasks scored 1 in every one of their tries (${fewestTries} or more): everybody solves them.`,
      'they tell no arms apart and teach nothing: leave them out, or keep some to notice when they break',
    ),
    ...[...stopped].flatMap(([cause, { tasks, first }]) =>
      finding(
        'product-stopped',
        [...tasks],
        `The product was stopped in ${tasks.size} tasks, which have no score for it: ${first}`,
        advice[cause],
      ),
    ),
  ]
}
