// `json`: the final answer is JSON, and fits a JSON Schema where one is given.
import { z } from 'zod'
import { finalAnswer } from '../episode-reading.ts'
import { parseAnswer } from '../json-answer.ts'
import { schemaOf } from '../json-schema.ts'
import type { CriterionOf, Grader } from '../types.ts'

export const json: Grader<CriterionOf<'json'>> = ({ criterion, episode }) => {
  const { weight, schema } = criterion
  const found = finalAnswer(episode)
  if ('missing' in found) return { value: null, weight, reason: found.missing }
  const value = parseAnswer(found.answer)
  if (value === undefined) return { value: 0, weight, reason: 'the answer is not JSON' }
  if (schema === undefined) return { value: 1, weight, reason: 'the answer is JSON' }
  const result = schemaOf(schema).safeParse(value)
  if (result.success) return { value: 1, weight, reason: 'the answer fits the schema' }
  return { value: 0, weight, reason: z.prettifyError(result.error) }
}
