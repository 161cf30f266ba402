import { expect, test } from 'vitest'
import { threadsOf } from '../../../tune/dataset/threads.ts'
import { candidate, model, says, user } from './dataset-fixtures.ts'

test('a thread knows its tools from all of its calls', () => {
  const tools = (name: string) => ({ request: { messages: [user], tools: [{ name }], parameters: {} } })
  const second = { request: { messages: [user, says('A')], tools: [{ name: 'b' }, { name: 'a', description: 'later' }], parameters: {} } }
  const { episode } = candidate([model([], says('A'), tools('a')), model([], says('B'), second)])
  expect(threadsOf(episode).map((thread) => thread.tools)).toEqual([[{ name: 'a' }, { name: 'b' }]])
})
