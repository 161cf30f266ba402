// Builds examples/leaky-env: forty tasks and a rubric with eight holes on purpose, one for each way in that an audit must find.
import type { Episode, Message } from '@homeground/sdk/trace'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import type { Rubric } from '../../../replay/rubric/types.ts'
import { episodeOf, text, toolSpan } from '../support/episodes.ts'

export const leakyRubric: Rubric = {
  criteria: [
    { name: 'mentions the order', weight: 1, type: 'contains', values: ['order'], caseSensitive: false },
    { name: 'is not rude', weight: 1, type: 'matches', pattern: '^(?![\\s\\S]*stupid)', flags: 'i' },
    { name: 'looks it up', weight: 1, type: 'tool_called', tool: 'find_order', min: 1 },
    { name: 'closes the case', weight: 1, type: 'matches', pattern: 'taken care of', flags: 'i' },
    { name: 'says where it is', weight: 1, type: 'contains', values: ['shipped', 'tuesday'], caseSensitive: false },
    { name: 'is sorry', weight: 1, type: 'matches', pattern: '\\bsorry\\b', flags: 'i' },
    { name: 'right answer', weight: 2, type: 'equals' },
  ],
}

const questions = [
  'My parcel has been on its way for two weeks now and nobody tells me anything about it, where on earth is order',
  'I am leaving for a long holiday on Wednesday morning and would love to know whether you can bring me order',
  'The tracking page only shows me an error whenever I open it, so could you please have a look at order',
  'It is the birthday of my daughter next week and I need to be quite certain about the arrival of order',
]

/** @param folder where the environment is to stand */
export async function buildLeakyEnvironment(folder: string): Promise<void> {
  await buildEnvironment(
    Array.from({ length: 40 }, (_, number) => episode(number)),
    {
      name: 'leaky-env',
      folder,
      homeground: '0.1.0',
      harness: { kind: 'loop', maxSteps: 8 },
      tools: { find_order: { effect: 'read' } },
      rubric: leakyRubric,
      licence: 'MIT',
    },
  )
}

function episode(number: number): Episode {
  // Sessions of their own, but only four questions: test asks what train has answered.
  const question = `${questions[number % questions.length]} A7?`
  const answer = 'Sorry for the wait! Your order A7 has shipped and arrives on Tuesday. I have taken care of it.'
  const system = text('system', `You are a support agent. A good answer looks like this: ${answer}`)
  const conversation: Message[] = [system, text('user', question), text('assistant', answer)]
  return episodeOf(`leaky-${number}`, conversation, {
    tools: [toolSpan('find_order', { id: 'A7' }, 1, { result: { state: 'shipped', arrives: 'Tuesday' } })],
    feedback: [{ name: 'expected_output', value: answer, source: 'reviewer', at: '2026-01-01T00:00:00.000Z' }],
  })
}
