// Episodes into tasks: one an episode, one a session, or one a user turn, each with its tape and the recording that it came from.
import { type Episode, type Feedback, type Json, type Message, sha256Hex, type ToolDefinition } from '@homeground/sdk/trace'
import { type Conversation, conversationOf, isUserTurn, outputOf, toolCallsOf } from './conversation.ts'
import { taskHash } from './hash.ts'
import { recordedActions, referenceOf } from './reference.ts'
import { type SplitShares, splitOf } from './splits.ts'
import { tapeEntriesOf, turnStarts } from './tape-entries.ts'
import type { EnvironmentFile, Reference, TapeEntry, Task } from './types.ts'

export interface TaskSettings {
  unit: EnvironmentFile['unit']
  harness: EnvironmentFile['harness']['kind']
  splits: SplitShares
  splitBy: EnvironmentFile['splitBy']
  /** `recorded`: what the recording did stands in where feedback does not say what was right. */
  reference: 'feedback' | 'recorded'
}

export interface BuiltTask {
  task: Task
  entries: TapeEntry[]
  recording: Episode
}

/** The tasks of one episode (units `episode` and `turn`). None where the harness has nothing to start from. */
export function tasksOfEpisode(episode: Episode, settings: TaskSettings): BuiltTask[] {
  if (settings.harness === 'module' || settings.harness === 'command') {
    if (!hasInput(episode)) return []
    const entries = tapeEntriesOf(episode, { results: 'function' })
    const content = { id: episode.id, ...(episode.input === undefined ? {} : { input: episode.input }), ...argumentsOf([episode]) }
    return [{ task: taskOf(episode, entries, content, settings), entries, recording: episode }]
  }
  const conversation = conversationOf(episode)
  if (conversation === undefined) return []
  return settings.unit === 'turn' ? turnTasks(episode, conversation, settings) : [loopTask(episode, conversation, settings)]
}

/** One task for a session of several episodes (harness `module`, `command`): the agent function gets each input in turn. */
export function taskOfSession(episodes: readonly Episode[], settings: TaskSettings): BuiltTask | undefined {
  const [first] = episodes
  if (first === undefined || !episodes.every(hasInput)) return undefined
  const recording = sessionEpisode(episodes)
  const entries = episodes
    .flatMap((episode, turn) => tapeEntriesOf(episode, { results: 'function' }).map((entry) => ({ ...entry, turn })))
    .map((entry, index) => ({ ...entry, seq: index + 1 }))
  const id = sha256Hex(`session\n${first.project}\n${groupOf(first, 'session')}`).slice(0, 32)
  const input = episodes.map((episode): Json => episode.input ?? null)
  return { task: taskOf(recording, entries, { id, input, ...argumentsOf(episodes) }, settings), entries, recording }
}

/** An agent that takes nothing has none to record. */
function hasInput(episode: Episode): boolean {
  return episode.input !== undefined || episode.agent?.arguments === 0
}

function argumentsOf(episodes: readonly Episode[]): { arguments?: number[] } {
  const counts = episodes.map(({ agent }) => agent?.arguments ?? 1)
  return counts.every((count) => count === 1) ? {} : { arguments: counts }
}

/** The episodes of a session as one: each agent run is a step, and its steps stand beneath it. */
export function sessionEpisode(episodes: readonly Episode[]): Episode {
  const [first] = episodes
  if (first === undefined) throw new TypeError('a session has at least one episode')
  const last = episodes[episodes.length - 1] ?? first
  const steps = episodes.flatMap((episode): Episode['steps'] => {
    const id = sha256Hex(`agent\n${episode.id}`).slice(0, 16)
    const known = new Set(episode.steps.map((step) => step.id))
    return [
      {
        kind: 'agent',
        id,
        name: episode.agent?.name ?? 'agent',
        startedAt: episode.startedAt,
        durationMs: episode.durationMs,
        ...(episode.input === undefined ? {} : { input: episode.input }),
        ...(episode.output === undefined ? {} : { output: episode.output }),
        ...(episode.error === undefined ? {} : { error: episode.error }),
      },
      ...episode.steps.map((step) => (step.parent !== undefined && known.has(step.parent) ? step : { ...step, parent: id })),
    ]
  })
  const { input: _input, output: _output, agent, ...rest } = first
  return {
    ...rest,
    ...(agent === undefined ? {} : { agent: without(agent, 'arguments') }),
    durationMs: Date.parse(last.startedAt) + last.durationMs - Date.parse(first.startedAt),
    ...(last.output === undefined ? {} : { output: last.output }),
    steps,
    feedback: episodes.flatMap((episode) => episode.feedback),
  }
}

/** What must not straddle a split: the session (or user), else the trace. */
export function groupOf(episode: Episode, by: TaskSettings['splitBy']): string {
  return (by === 'user' ? episode.user : undefined) ?? episode.session ?? episode.trace
}

function loopTask(episode: Episode, conversation: Conversation, settings: TaskSettings): BuiltTask {
  const entries = tapeEntriesOf(episode, { results: 'message' })
  const prompt = conversation.gaps[0] ?? []
  const groups = conversation.gaps.slice(1).flatMap((gap) => {
    const said = gap.filter(isUserTurn)
    return said.length === 0 ? [] : [said]
  })
  const turns = groups.length === 0 ? {} : { turns: [prompt.length, ...groups.map((group) => group.length)] }
  const content = { id: episode.id, messages: toJson([...prompt, ...groups.flat()]), ...turns, ...requestOf(conversation, 0) }
  return { task: taskOf(episode, entries, content, settings), entries, recording: episode }
}

/** History as recorded, up to the user's message; the candidate acts until its next message to the user. */
function turnTasks(episode: Episode, conversation: Conversation, settings: TaskSettings): BuiltTask[] {
  return [...turnStarts(conversation)].flatMap(([from, turn]) => {
    const call = conversation.calls[from]
    if (call === undefined) return []
    let to = from
    while (to + 1 < conversation.calls.length && toolCallsOf(outputOf(conversation.calls[to] ?? call)).length > 0) to += 1
    const entries = tapeEntriesOf(episode, { results: 'message', calls: { from, to } })
    const covered = new Set(conversation.calls.slice(from, to + 1).map((each) => each.id))
    const said = episode.feedback.filter((feedback) => feedback.stepId !== undefined && covered.has(feedback.stepId))
    const content = {
      id: `${episode.id}-${turn + 1}`,
      messages: toJson(call.request.messages),
      ...requestOf(conversation, from),
      step: call.id,
      startedAt: call.startedAt,
      final: outputOf(conversation.calls[to] ?? call),
    }
    return [{ task: taskOf(episode, entries, content, settings, said), entries, recording: episode }]
  })
}

interface TaskContent {
  id: string
  input?: Json
  arguments?: number[]
  messages?: Json[]
  turns?: number[]
  tools?: Json[]
  parameters?: Record<string, Json>
  step?: string
  startedAt?: string
  final?: Message | undefined
}

function taskOf(
  episode: Episode,
  entries: readonly TapeEntry[],
  content: TaskContent,
  settings: TaskSettings,
  said?: readonly Feedback[],
): Task {
  const { step, startedAt, final, ...rest } = content
  const reference = withRecorded(referenceOf(episode, said), episode, entries, final, settings)
  const task: Omit<Task, 'hash'> = {
    split: splitOf(groupOf(episode, settings.splitBy), settings.splits),
    session: episode.session ?? episode.trace,
    ...rest,
    ...(reference === undefined ? {} : { reference }),
    tags: episode.tags,
    source: {
      trace: episode.trace,
      episode: episode.id,
      startedAt: startedAt ?? episode.startedAt,
      ...(step === undefined ? {} : { step }),
    },
  }
  // The id first: indexes find it without parsing the line.
  return { id: task.id, hash: taskHash(task), ...without(task, 'id') }
}

function withRecorded(
  reference: Reference | undefined,
  episode: Episode,
  entries: readonly TapeEntry[],
  final: Message | undefined,
  settings: TaskSettings,
): Reference | undefined {
  if (settings.reference === 'feedback') return reference
  const text = final?.parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])).join('')
  const output = text === undefined ? episode.output : text
  return {
    ...(output === undefined ? {} : { output }),
    actions: recordedActions(entries),
    ...reference,
  }
}

function requestOf(conversation: Conversation, index: number): { tools?: Json[]; parameters?: Record<string, Json> } {
  const request = conversation.calls[index]?.request
  if (request === undefined) return {}
  // Streaming is how the product wanted its answer, not what it asked.
  const { stream: _stream, stream_options: _options, ...parameters } = request.parameters
  return {
    ...(request.tools.length === 0 ? {} : { tools: toJson(request.tools) }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  }
}

/** Episodes hold JSON only; their types say more than Json's index signature takes. */
function toJson(values: readonly (Message | ToolDefinition)[]): Json[] {
  return JSON.parse(JSON.stringify(values))
}

function without<T extends object, Key extends keyof T>(value: T, key: Key): Omit<T, Key> {
  const { [key]: _left, ...rest } = value
  return rest
}
