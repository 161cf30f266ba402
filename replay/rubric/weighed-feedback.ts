// What a rollout cannot have: feedback is given to recordings, and a weighed criterion without a value leaves the whole score null.
import type { Rubric } from './types.ts'

/** Names of the criteria that ask a rollout for feedback, and have a weight. */
export function weighedFeedback(rubric: Rubric): string[] {
  return rubric.criteria.filter(({ type, weight }) => type === 'feedback' && weight > 0).map(({ name }) => name)
}
