// `matches`: the final answer fits a regular expression.
import { answerText, finalAnswer } from '../episode-reading.ts'
import type { CriterionOf, Grader } from '../types.ts'

export const matches: Grader<CriterionOf<'matches'>> = ({ criterion, episode }) => {
  const { weight, pattern, flags } = criterion
  const found = finalAnswer(episode)
  if ('missing' in found) return { value: null, weight, reason: found.missing }
  const match = new RegExp(pattern, flags).exec(answerText(found.answer))
  if (match) return { value: 1, weight, reason: `matches at ${match.index}` }
  return { value: 0, weight, reason: `does not match /${pattern}/${flags}` }
}
