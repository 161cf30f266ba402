// `feedback`: what a person or a system said about this very episode. A recording's feedback says nothing about a rollout, so a rollout without any scores null.
import type { CriterionOf, Grader } from '../types.ts'

/** The last feedback of that name (about the episode, else about a step) over `max`, held to [0, 1]; true is 1, false is 0. */
export const feedback: Grader<CriterionOf<'feedback'>> = ({ criterion, episode }) => {
  const { weight, max } = criterion
  const named = episode.feedback
    .filter((item) => item.name === criterion.feedback)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const last = named.findLast((item) => item.stepId === undefined) ?? named.at(-1)
  if (last === undefined) return { value: null, weight, reason: `no feedback named ${criterion.feedback}` }
  if (typeof last.value === 'string')
    return { value: null, weight, reason: `feedback ${criterion.feedback} is text: ${JSON.stringify(last.value)}` }
  const value = Math.min(1, Math.max(0, typeof last.value === 'boolean' ? Number(last.value) : last.value / max))
  return { value, weight, reason: `${criterion.feedback} = ${last.value}, by ${last.source}` }
}
