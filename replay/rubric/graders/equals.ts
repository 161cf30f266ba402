// `equals`: the final answer, or one value in it, is exactly the one wanted.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import { answerText, finalAnswer } from '../episode-reading.ts'
import { parseAnswer, valueAt } from '../json-answer.ts'
import type { CriterionOf, Grader } from '../types.ts'

/**
 * Compares with `value`, else with the task's reference output. Text: white space at the ends and Unicode form aside. Anything else: as canonical JSON, where
 * an answer that is text is read as JSON first. The episode's own trace id counts as the recording's. `path` (`order.items.0`) picks a value out of the answer; the reference output is then the value itself.
 */
export const equals: Grader<CriterionOf<'equals'>> = ({ criterion, episode, task }) => {
  const { weight, path } = criterion
  const wanted = criterion.value ?? task.reference?.output
  if (wanted === undefined) return { value: null, weight, reason: 'no value is given and the task has no reference output' }
  const found = finalAnswer(episode)
  if ('missing' in found) return { value: null, weight, reason: found.missing }
  let answer: Json | undefined = renamed(found.answer, episode.trace, task.source.trace)
  if (path !== undefined || (typeof wanted !== 'string' && typeof answer === 'string')) answer = parseAnswer(answer)
  if (path !== undefined && answer !== undefined) answer = valueAt(answer, path)
  if (answer === undefined)
    return { value: 0, weight, reason: path === undefined ? 'the answer is not JSON' : `the answer has no value at ${path}` }
  const equal =
    typeof wanted === 'string' && path === undefined
      ? tidy(answerText(answer)) === tidy(wanted)
      : canonicalJson(answer) === canonicalJson(wanted)
  if (equal) return { value: 1, weight, reason: 'equal' }
  return { value: 0, weight, reason: `expected ${shown(wanted)}, found ${shown(answer)}` }
}

/** A product that answers with its trace id (for feedback) says another one in every rollout. */
function renamed(answer: Json, own: string, recorded: string): Json {
  if (own === recorded) return answer
  const text = JSON.stringify(answer)
  return text.includes(own) ? JSON.parse(text.replaceAll(own, recorded)) : answer
}

function tidy(text: string): string {
  return text.normalize('NFC').trim()
}

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
