import { expect, test } from 'vitest'
import { text } from '../../sdk/trace/episode-fixtures.ts'
import { candidate, dataset, user } from './dataset-fixtures.ts'

test('rows of groups hold the prompt up to the first turn, and every task that nobody has scored', async () => {
  const base = { hash: '0'.repeat(64), session: 's', tags: {}, source: { trace: 't' }, split: 'train' as const }
  const messages = [text('system', 'S'), user, text('user', 'later')].map((message) => JSON.parse(JSON.stringify(message)))
  const tasks = [
    { ...base, id: 'loop', messages, turns: [2, 1] },
    { ...base, id: 'module', input: { q: 1 } },
    { ...base, id: 'held', split: 'test' as const, input: 'x' },
  ]
  expect((await dataset([], { format: 'trl-grpo' }, tasks)).rows).toEqual([
    {
      prompt: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Hi' },
      ],
      task: 'loop',
    },
    { prompt: [{ role: 'user', content: '{"q":1}' }], task: 'module' },
  ])
})

test('a task that was tried once, as it was recorded, keeps its place among the prompts: one score has no variance to speak of', async () => {
  const base = { hash: '0'.repeat(64), session: 's', tags: {}, source: { trace: 't' }, split: 'train' as const }
  const recorded = candidate([], { task: 'once', score: 1 })
  const { rows, report } = await dataset([recorded], { format: 'trl-grpo' }, [{ ...base, id: 'once', input: 'x' }])
  expect([rows.map(({ task }) => task), report.dropped]).toEqual([['once'], {}])
})

test('an unknown format is refused with those that there are', async () => {
  await expect(dataset([], { format: 'csv' })).rejects.toMatchObject({
    code: 'unknown-format',
    hint: expect.stringContaining('trl-sft, trl-tokens, openai-sft'),
  })
})
