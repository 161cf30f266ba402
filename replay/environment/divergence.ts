// A replay beside its recording: the first step at which they part, and where in it.
import type { Episode, Message, ModelCall, Step } from '@homeground/sdk/trace'
import { lanesOf } from './conversation.ts'
import { type Difference, firstDifference, type OwnNames } from './first-difference.ts'
import { taskCalls } from './task-calls.ts'
import type { EnvironmentFile, HarnessSettings, Task } from './types.ts'

export interface Parting extends Difference {
  /** Which step of the recording, from 1, and what it is: `model call`, `tool get_order`. */
  step: number
  what: string
  place: 'tools' | 'other'
  /** The recording ends here though the run did not. */
  cut: boolean
}

export interface Sides {
  recorded: Episode
  replayed: Episode
  task: Task
  harness: HarnessSettings['kind']
  unit: EnvironmentFile['unit']
}

/** `undefined` where the replay made the same requests, tool calls and answer. */
export function firstParting(sides: Sides): Parting | undefined {
  const product = sides.harness === 'module' || sides.harness === 'command'
  const recorded = product
    ? stepsByLane(sides.recorded, sides.unit)
    : new Map([[undefined, taskCalls(sides.task, sides.recorded, sides.harness)]])
  const own = ownNames(sides)
  const taken = new Map<string | undefined, number>()
  const lanes = lanesOf(sides.replayed, { session: sides.unit === 'session' })
  for (const step of sides.replayed.steps) {
    if (step.kind === 'agent') continue
    if (step.kind === 'tool' && step.offTape !== undefined) return offTape(step, sides)
    if (step.kind !== 'model') continue
    const lane = lanes.get(step.id)
    const index = taken.get(lane) ?? 0
    taken.set(lane, index + 1)
    const twin = recorded.get(lane)?.[index]
    if (twin === undefined) return extraCall(step, sides.recorded)
    const difference = requestDifference(twin, step, { product, own })
    if (difference !== undefined) return parting(difference, twin, sides.recorded, placeOf(difference.path, step))
    if (twin.response === undefined && twin.error === undefined) return cutAt(twin, sides.recorded)
  }
  for (const [lane, calls] of recorded) {
    const missing = calls[taken.get(lane) ?? 0]
    if (missing !== undefined) return missingCall(missing, sides)
  }
  return endDifference(sides, product)
}

function stepsByLane(episode: Episode, unit: EnvironmentFile['unit']): Map<string | undefined, ModelCall[]> {
  const lanes = lanesOf(episode, { session: unit === 'session' })
  const byLane = new Map<string | undefined, ModelCall[]>()
  for (const step of episode.steps) {
    if (step.kind !== 'model') continue
    const lane = lanes.get(step.id)
    byLane.set(lane, [...(byLane.get(lane) ?? []), step])
  }
  return byLane
}

function ownNames({ recorded, replayed }: Sides): OwnNames {
  return { expected: recorded.trace, actual: replayed.trace }
}

interface Reading {
  product: boolean
  own: OwnNames
}

function requestDifference(recorded: ModelCall, replayed: ModelCall, reading: Reading): Difference | undefined {
  const { product, own } = reading
  return (
    messagesDifference(recorded.request.messages, replayed.request.messages, reading) ??
    firstDifference(recorded.request.tools, replayed.request.tools, 'request.tools', own) ??
    firstDifference(parameters(recorded, product), parameters(replayed, product), 'request.parameters', own)
  )
}

function messagesDifference(recorded: readonly Message[], replayed: readonly Message[], { product, own }: Reading): Difference | undefined {
  for (let index = 0; index < Math.max(recorded.length, replayed.length); index += 1) {
    const [a, b] = [withoutToolName(recorded[index], product), withoutToolName(replayed[index], product)]
    const found = a === b ? undefined : firstDifference(a, b, `request.messages[${index}]`, own)
    if (found !== undefined) return found
  }
  return undefined
}

/** Some products name the tool on its result's message; a loop does not, and models do not see it. */
function withoutToolName(message: Message | undefined, product: boolean): Message | undefined {
  if (product || message?.name === undefined || !message.parts.some((part) => part.type === 'tool_call_response')) return message
  const { name: _name, ...rest } = message
  return rest
}

/** Whether a loop streams is not the product's doing. */
function parameters({ request }: ModelCall, product: boolean): Record<string, unknown> {
  if (product) return request.parameters
  const { stream: _stream, stream_options: _options, ...rest } = request.parameters
  return rest
}

function placeOf(path: string, call: ModelCall): Parting['place'] {
  if (path.startsWith('request.tools')) return 'tools'
  const index = /^request\.messages\[(\d+)\]/.exec(path)?.[1]
  const message = index === undefined ? undefined : call.request.messages[Number(index)]
  return message?.parts.some((part) => part.type === 'tool_call_response') === true ? 'tools' : 'other'
}

function offTape(step: Extract<Step, { kind: 'tool' }>, sides: Sides): Parting {
  const { recorded } = sides
  const twin = recorded.steps.find(
    (candidate) => candidate.kind === 'tool' && candidate.name === step.name && !alike(candidate.arguments, step.arguments),
  )
  const difference = firstDifference(twin?.kind === 'tool' ? twin.arguments : undefined, step.arguments, 'arguments', ownNames(sides))
  const found = difference ?? {
    path: 'arguments',
    expected: '(no such call)',
    actual: JSON.stringify(step.arguments),
    expectedPart: '',
    actualPart: '',
  }
  return {
    ...found,
    step: twin === undefined ? recorded.steps.length + 1 : stepNumber(twin, recorded),
    what: `tool ${step.name}`,
    place: 'tools',
    cut: false,
  }
}

function extraCall(step: ModelCall, recorded: Episode): Parting {
  const last = recorded.steps.findLast((candidate) => candidate.kind === 'model')
  const wantedMore =
    last?.kind === 'model' &&
    (last.partial === true ||
      last.response === undefined ||
      last.response.finishReasons.includes('error') ||
      last.response.finishReasons[last.chosen ?? 0] === 'tool_call')
  return {
    path: 'request',
    expected: '(no further model call)',
    actual: `a model call with ${step.request.messages.length} messages`,
    expectedPart: '',
    actualPart: '',
    step: recorded.steps.length + 1,
    what: 'model call',
    place: 'other',
    cut: wantedMore,
  }
}

function cutAt(call: ModelCall, recorded: Episode): Parting {
  return {
    path: 'response',
    expected: '(nothing: the recording ends here)',
    actual: 'a response is needed',
    expectedPart: '',
    actualPart: '',
    step: stepNumber(call, recorded),
    what: 'model call',
    place: 'other',
    cut: true,
  }
}

function missingCall(call: ModelCall, { recorded, replayed }: Sides): Parting {
  const error = replayed.error
  return {
    path: 'request',
    expected: `a model call with ${call.request.messages.length} messages`,
    actual: error === undefined ? '(the replay ended before)' : `(the replay ended with ${error.type}: ${error.message})`,
    expectedPart: '',
    actualPart: '',
    step: stepNumber(call, recorded),
    what: 'model call',
    place: 'other',
    cut: false,
  }
}

function endDifference(sides: Sides, product: boolean): Parting | undefined {
  if (!product) return undefined
  const { recorded, replayed } = sides
  const own = ownNames(sides)
  const difference =
    firstDifference(recorded.output, replayed.output, 'output', own) ?? firstDifference(recorded.error, replayed.error, 'error', own)
  return difference === undefined ? undefined : { ...difference, step: recorded.steps.length, what: 'end', place: 'other', cut: false }
}

function parting(difference: Difference, step: Step, recorded: Episode, place: Parting['place']): Parting {
  return { ...difference, step: stepNumber(step, recorded), what: 'model call', place, cut: false }
}

function stepNumber(step: Step, episode: Episode): number {
  return episode.steps.findIndex((candidate) => candidate.id === step.id) + 1
}

function alike(a: unknown, b: unknown): boolean {
  return firstDifference(a, b, '') === undefined
}
