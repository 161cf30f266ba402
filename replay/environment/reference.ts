// What a task's right answer is known to be: from feedback with a meaning of its own, from other feedback, or, where asked for, from the recording itself.
import {
  asArray,
  asObject,
  type Episode,
  type Feedback,
  HomegroundError,
  type Json,
  parseJson,
  referenceFeedback,
} from '@homeground/sdk/trace'
import { saysFailure } from '../rubric/tool-failure.ts'
import { isEffectful } from '../tape/tape.ts'
import type { Action, Reference, TapeEntry } from './types.ts'

/**
 * From feedback `expected_actions`, `expected_outputs` and `expected_output`; every other name goes to `feedback`, the last value said.
 * `undefined` where nothing is known.
 * @throws HomegroundError invalid-input: feedback of such a name that is not what it should be, with the trace
 */
export function referenceOf(episode: Episode, feedback: readonly Feedback[] = episode.feedback): Reference | undefined {
  const reference: Reference = {}
  const others: Record<string, number | boolean | string> = {}
  for (const said of feedback) {
    const place = `trace ${episode.trace}, feedback ${said.name}`
    if (said.name === referenceFeedback.actions) reference.actions = actionsOf(said.value, place)
    else if (said.name === referenceFeedback.outputs) reference.outputs = outputsOf(said.value, place)
    else if (said.name === referenceFeedback.output) reference.output = outputOf(said.value)
    else others[said.name] = said.value
  }
  const score = others['score'] ?? others['reward']
  if (typeof score === 'number' && score >= 0 && score <= 1) reference.score = score
  if (Object.keys(others).length > 0) reference.feedback = others
  return Object.keys(reference).length === 0 ? undefined : reference
}

/** The recording's own effectful calls that succeeded, as the reference: right only where the recording is. */
export function recordedActions(entries: readonly TapeEntry[]): Action[] {
  return entries
    .filter((entry) => entry.kind === 'tool' && !failed(entry) && isEffectful(entry.effect))
    .map((entry) => ({ name: entry.name, arguments: entry.arguments }))
}

function failed(entry: TapeEntry): boolean {
  return entry.error !== undefined || (entry.result !== undefined && saysFailure(entry.result))
}

function actionsOf(value: Feedback['value'], place: string): Action[] {
  return listOf(value, place, '[{ "name": …, "arguments": … }]').map((item) => {
    const action = asObject(item)
    if (typeof action?.['name'] !== 'string') throw notWhatItShouldBe(place, 'a list of { name, arguments }')
    return { name: action['name'], arguments: action['arguments'] ?? {} }
  })
}

function outputsOf(value: Feedback['value'], place: string): string[] {
  return listOf(value, place, '["text", …]').map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
}

/** JSON text of a list or object is that value; any other text is the text. */
function outputOf(value: Feedback['value']): Json {
  const parsed = typeof value === 'string' ? parseJson(value) : value
  return typeof parsed === 'object' && parsed !== null ? parsed : value
}

function listOf(value: Feedback['value'], place: string, shape: string): Json[] {
  const parsed = typeof value === 'string' ? parseJson(value) : undefined
  if (!Array.isArray(parsed)) throw notWhatItShouldBe(place, shape)
  return asArray(parsed)
}

function notWhatItShouldBe(place: string, expected: string): HomegroundError {
  return new HomegroundError('invalid-input', `${place}: expected JSON text: ${expected}`, {
    hint: 'send the feedback again with that shape; the one received last wins',
  })
}
