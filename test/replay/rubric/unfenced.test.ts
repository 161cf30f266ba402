import { expect, test } from 'vitest'
import { parseAnswer } from '../../../replay/rubric/json-answer.ts'
import { unfenced } from '../../../replay/rubric/unfenced.ts'

test.each([
  ['```json\n{"a":1}\n```', '{"a":1}'],
  ['  ```JSON  \n\n{"a":1}\n\n```\n', '\n{"a":1}'],
  ['```\n  a\n```', '  a'],
  ['```\n```', ''],
  ['```', '```'],
  ['``````', '``````'],
  ['here: ```json\n{}\n```', 'here: ```json\n{}\n```'],
  ['```json\n{}', '```json\n{}'],
  ['{}', '{}'],
])('%j is unfenced as %j', (text, expected) => expect(unfenced(text)).toBe(expected))

test('an answer of blank lines is read as fast as it is long', () => {
  expect(parseAnswer(`\`\`\`\n${' \n'.repeat(200_000)}x`)).toBeUndefined()
})
