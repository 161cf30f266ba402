import { HomegroundError } from '@homeground/sdk/trace'
import { expect, test } from 'vitest'
import { parseRubric } from '../../../replay/rubric/index.ts'

function fault(value: unknown): { code: string; message: string; hint: string } {
  try {
    parseRubric(value, 'my/rubric.json')
  } catch (error) {
    if (HomegroundError.is(error)) return { code: error.code, message: error.message, hint: error.hint }
    throw error
  }
  throw new Error('no fault')
}

test('defaults are filled in', () => {
  expect(parseRubric({ criteria: [{ name: 'a', type: 'actions' }] }, 'r')).toEqual({
    criteria: [{ name: 'a', type: 'actions', weight: 1, outputs: true }],
  })
})

test('a grader that does not exist is named with its file and criterion, and the types that exist', () => {
  expect(
    fault({
      criteria: [
        { name: 'ok', type: 'steps', max: 1 },
        { name: 'tone', type: 'vibes' },
      ],
    }),
  ).toEqual({
    code: 'unknown-grader',
    message: 'my/rubric.json: criterion "tone" (criteria[1]) has the type "vibes", which does not exist',
    hint: 'the types are equals, contains, matches, json, tool_called, no_tool_called, tool_sequence, actions, code, judge, feedback, cost, latency, steps',
  })
})

test.each([
  ['a missing field', { criteria: [{ name: 'a', type: 'steps' }] }, 'max'],
  ['an unknown field', { criteria: [{ name: 'a', type: 'steps', max: 1, mux: 2 }] }, 'mux'],
  ['no criteria', { criteria: [] }, 'criteria'],
  ['not an object', 'x', 'expected object'],
  [
    'a name that is used twice',
    {
      criteria: [
        { name: 'a', type: 'actions' },
        { name: 'a', type: 'actions' },
      ],
    },
    'two criteria are named "a"',
  ],
  [
    'a pattern that does not compile',
    { criteria: [{ name: 'a', type: 'matches', pattern: '(' }] },
    'criterion "a": Invalid regular expression',
  ],
  ['a schema that is none', { criteria: [{ name: 'a', type: 'json', schema: 3 }] }, 'criterion "a": a JSON Schema is an object'],
])('%s is an environment-invalid that names the place', (_, value, words) => {
  const { code, message } = fault(value)
  expect(code).toBe('environment-invalid')
  expect(message).toContain('my/rubric.json')
  expect(message).toContain(words)
})
