// What the tests of datasets are made of: candidates from a few model calls, the rows they give, and what those rows train.
import type { Message, ModelCall, Part } from '@homeground/sdk/trace'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import type { Candidate, DatasetOptions } from '../../../tune/dataset/types.ts'
import type { Row } from '../../../tune/formats/messages.ts'
import { modelCall, text } from '../../sdk/trace/episode-fixtures.ts'
import { candidateOf, sourceOf } from './case-source.ts'

export const call = (id: string, name = 'look', given: object = {}): Part => ({
  type: 'tool_call',
  id,
  name,
  arguments: { q: 1 },
  ...given,
})
export const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
export const says = (content: string) => text('assistant', content)
export const result = (id: string, response: string): Message => ({ role: 'tool', parts: [{ type: 'tool_call_response', id, response }] })
export const model = (messages: Message[], output: Message, given: Partial<ModelCall> = {}) => modelCall('', messages, [output], given)
let made = 0
/** An episode of the split train, with an id and a session of its own. */
export const candidate = (steps: ModelCall[], given: Partial<Candidate> = {}): Candidate => {
  const id = `e${++made}`
  const base = candidateOf({ id, session: `s-${id}`, split: 'train', steps: steps.map(({ id: _, ...step }) => step) })
  return { ...base, ...given }
}

/** `tasks`: of the environment, for formats that are made of prompts alone. */
export async function dataset(candidates: Candidate[], options: DatasetOptions, tasks: Parameters<typeof sourceOf>[1] = []) {
  const rows: Row[] = []
  const report = await makeDataset(sourceOf(candidates, tasks), options, async ({ row }) => {
    rows.push(row)
  })
  return { rows, report }
}

export const user = text('user', 'Hi')

/** What a row trains, in order: the assistant messages of `messages` or `completion`. */
export function trainedTexts(row: Row): string[] {
  const messages = (row['messages'] ?? row['completion']) as { role: string; content: string }[]
  return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
}
