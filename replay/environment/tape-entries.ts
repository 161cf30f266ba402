// A tape out of an episode: what each tool returned and each io read gave, in order.
import type { Episode, IoRead, Json, ToolCall, ToolCallPart } from '@homeground/sdk/trace'
import { argumentsHash } from '../tape/key.ts'
import { type Conversation, conversationOf, isUserTurn, lanesOf, outputOf, toolCallsOf, toolResultsOf } from './conversation.ts'
import type { TapeEntry } from './types.ts'

export interface TapeSource {
  /**
   * What a result is: `function` = what the tool's function returned, for a harness that runs the product's code; `message` = what the model
   * was shown, for one that writes the messages itself.
   */
  results: 'function' | 'message'
  /** The part of the main conversation that the task covers; absent = all of the episode. */
  calls?: { from: number; to: number }
}

/** Entries from tool spans; where there are none, from the tool results in later requests. */
export function tapeEntriesOf(episode: Episode, source: TapeSource): TapeEntry[] {
  const lanes = lanesOf(episode)
  const conversation = conversationOf(episode)
  const spans = episode.steps.filter((step): step is ToolCall => step.kind === 'tool')
  const reads = source.results === 'function' ? episode.steps.filter((step): step is IoRead => step.kind === 'io') : []
  const entries: Recorded[] = []
  const turns = new Map<string, number>()

  if (conversation !== undefined && (source.results === 'message' || spans.length === 0)) {
    for (const shown of shownResults(conversation, source.calls)) {
      const span = takeSpan(spans, shown.call, (candidate) => lanes.get(candidate.id) === undefined)
      // After the last message nobody was shown a result; without a span either, the recording was cut there.
      if (shown.response === undefined && span?.result === undefined && span?.error === undefined) continue
      entries.push({
        at: span?.startedAt ?? shown.at,
        entry: {
          kind: 'tool',
          name: shown.call.name,
          arguments: shown.call.arguments,
          ...(shown.response === undefined ? endOf(span) : { result: shown.response }),
          durationMs: span?.durationMs ?? 0,
          effect: span?.effect ?? 'unknown',
          ...(shown.call.id === undefined ? {} : { callId: shown.call.id }),
          turn: shown.turn,
        },
      })
    }
  } else {
    for (const [index, turn] of turnStarts(conversation)) {
      const call = conversation?.calls[index]
      if (call !== undefined) turns.set(call.startedAt, turn)
    }
    for (const span of spans)
      entries.push({ at: span.startedAt, entry: entryOfSpan(span, lanes.get(span.id), turnAt(turns, span.startedAt)) })
  }
  for (const read of reads) {
    const lane = lanes.get(read.id)
    entries.push({
      at: read.startedAt,
      entry: {
        kind: 'io',
        name: read.name,
        arguments: read.key ?? null,
        ...(read.result === undefined ? {} : { result: read.result }),
        ...(read.error === undefined ? {} : { error: read.error }),
        durationMs: read.durationMs,
        effect: 'read',
        ...(lane === undefined ? {} : { lane }),
      },
    })
  }
  // Steps stand by start time; the sort keeps their order among equals. Results read from messages stand in the order of the calls.
  if (source.results === 'function') entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return entries.map(({ entry }, index) => ({ seq: index + 1, ...entry, hash: argumentsHash(entry.arguments) }))
}

interface Recorded {
  at: string
  entry: Omit<TapeEntry, 'seq' | 'hash'>
}

function entryOfSpan(span: ToolCall, lane: string | undefined, turn: number | undefined): Recorded['entry'] {
  return {
    kind: 'tool',
    name: span.name,
    arguments: span.arguments,
    ...(span.result === undefined ? {} : { result: span.result }),
    ...(span.error === undefined ? {} : { error: span.error }),
    durationMs: span.durationMs,
    effect: span.effect,
    ...(span.callId === undefined ? {} : { callId: span.callId }),
    ...(lane === undefined ? {} : { lane }),
    ...(turn === undefined ? {} : { turn }),
  }
}

/** The run went on to no further model call: what its last tool gave is in its span alone. */
function endOf(span: ToolCall | undefined): Pick<TapeEntry, 'result' | 'error' | 'ends'> {
  const gave = span?.error === undefined ? { result: span?.result ?? null } : { error: span.error }
  return { ...gave, ends: true }
}

interface ShownResult {
  call: ToolCallPart
  /** Absent after the last model call. */
  response: Json | undefined
  at: string
  turn: number
}

/** Each call of the model's messages with the result that the next request shows for it: by id, in order among equal ids, else by position. */
function shownResults(conversation: Conversation, range: TapeSource['calls']): ShownResult[] {
  const shown: ShownResult[] = []
  const starts = turnStarts(conversation)
  let turn = 0
  for (const [index, call] of conversation.calls.entries()) {
    turn = starts.get(index) ?? turn
    if (range !== undefined && (index < range.from || index > range.to)) continue
    const results = toolResultsOf(conversation.gaps[index + 1] ?? [])
    for (const wanted of toolCallsOf(outputOf(call))) {
      const byId = results.findIndex((result) => result.id === wanted.id)
      const [result] = results.splice(byId === -1 ? 0 : byId, results.length === 0 ? 0 : 1)
      const isLast = index === conversation.calls.length - 1
      if (result !== undefined || isLast) shown.push({ call: wanted, response: result?.response, at: call.startedAt, turn })
    }
  }
  return shown
}

/** Index of the call that a user turn begins with -> number of the turn, from 0. */
export function turnStarts(conversation: Conversation | undefined): Map<number, number> {
  const starts = new Map<number, number>()
  for (const [index, gap] of (conversation?.gaps ?? []).entries()) {
    if (index === 0 || gap.some(isUserTurn)) starts.set(index, starts.size)
  }
  return starts
}

function turnAt(turns: ReadonlyMap<string, number>, at: string): number | undefined {
  let found: number | undefined
  for (const [start, turn] of turns) if (start <= at) found = turn
  return found
}

/** The span of a call: by call id, else by name and arguments; each span once. */
function takeSpan(spans: ToolCall[], call: ToolCallPart, inLane: (span: ToolCall) => boolean): ToolCall | undefined {
  const text = JSON.stringify(call.arguments)
  const fits = (span: ToolCall) => span.name === call.name && inLane(span)
  let index =
    call.id === undefined ? -1 : spans.findIndex((span) => fits(span) && span.callId === call.id && JSON.stringify(span.arguments) === text)
  if (index === -1) index = spans.findIndex((span) => fits(span) && JSON.stringify(span.arguments) === text)
  return index === -1 ? undefined : spans.splice(index, 1)[0]
}
