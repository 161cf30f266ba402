// `contains`: the final answer says all that is wanted.
import { answerText, finalAnswer } from '../episode-reading.ts'
import { says } from '../text-match.ts'
import type { CriterionOf, Grader } from '../types.ts'

/** All of `values`, else of the task's reference outputs, stand in the final answer (rules of text-match.ts). */
export const contains: Grader<CriterionOf<'contains'>> = ({ criterion, episode, task }) => {
  const { weight, caseSensitive } = criterion
  const wanted = criterion.values ?? task.reference?.outputs
  if (wanted === undefined) return { value: null, weight, reason: 'no values are given and the task has no reference outputs' }
  const found = finalAnswer(episode)
  if ('missing' in found) return { value: null, weight, reason: found.missing }
  const text = answerText(found.answer)
  const missing = wanted.filter((value) => !says(text, value, { caseSensitive }))
  if (missing.length === 0) return { value: 1, weight, reason: `says all of ${JSON.stringify(wanted)}` }
  return { value: 0, weight, reason: `does not say ${missing.map((value) => JSON.stringify(value)).join(', ')}` }
}
