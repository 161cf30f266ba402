// A task's recorded tool results and io reads, served to a candidate. It decides what answers a call; running a live function, a mock or a simulation is its caller's.
//
// Model: entries of one key (kind, name, lane, canonical arguments) form a queue; a hit takes the head. A model message with
// several identical calls reserves heads in the order of the message, so that the order of arrival does not matter.
import type { Effect } from '@homeground/sdk/trace'
import type { TapeEntry, ToolSettings } from '../environment/types.ts'
import { isArgumentObject } from './arguments.ts'
import { tapeKey } from './key.ts'
import { nearestOf } from './nearest.ts'
import type { Divergence, MissPolicy, TapeAnswer, TapeCall, TapeReport } from './types.ts'

export interface TapeOptions {
  /** env.json's `tools`. */
  tools: Readonly<Record<string, ToolSettings>>
  /** Tools with side effects that may run live: the environment's mode and this list must both say so. @default none */
  allowLive?: readonly string[]
}

export class Tape {
  readonly #options: TapeOptions
  readonly #entries: readonly TapeEntry[]
  readonly #queues = new Map<string, TapeEntry[]>()
  readonly #names = new Set<string>()
  /** Calls of model messages that have not come yet: key -> messages, each with its calls' ids and the entries set aside for them. */
  readonly #announced = new Map<string, Reservation[]>()
  readonly #consumed = new Set<number>()
  /** Tool hits in order of arrival, with the model message that asked for each. */
  readonly #served: ServedHit[] = []
  #messages = 0
  #toolCalls = 0
  #offTape: { count: number; first?: number } = { count: 0 }
  #staleReads = 0
  #outOfOrder = 0
  #lastHit = 0
  #lastWrite = 0
  readonly #live: string[] = []

  constructor(entries: readonly TapeEntry[], options: TapeOptions) {
    this.#options = options
    this.#entries = [...entries].sort((a, b) => a.seq - b.seq)
    for (const entry of this.#entries) {
      if (entry.kind === 'tool') this.#names.add(entry.name)
      const key = tapeKey(entry, this.#settings(entry.name))
      const queue = this.#queues.get(key)
      if (queue) queue.push(entry)
      else this.#queues.set(key, [entry])
    }
  }

  /** A model message with these tool calls has arrived, in its order. Reservations of the lane's earlier message end. */
  announce(calls: readonly TapeCall[], lane?: string): void {
    this.#messages += 1
    for (const [key, reservations] of this.#announced) {
      const rest = reservations.filter((reservation) => reservation.lane !== lane)
      if (rest.length > 0) this.#announced.set(key, rest)
      else this.#announced.delete(key)
    }
    const groups = new Map<string, (string | undefined)[]>()
    for (const call of calls) {
      const key = this.#keyOf('tool', call)
      const group = groups.get(key)
      if (group) group.push(call.callId)
      else groups.set(key, [call.callId])
    }
    for (const [key, callIds] of groups) {
      if (callIds.length < 2) continue
      const reservation = { lane, callIds, entries: (this.#queues.get(key) ?? []).slice(0, callIds.length) }
      this.#announced.set(key, [...(this.#announced.get(key) ?? []), reservation])
    }
  }

  /** What answers this tool call. Call it once a call, in the order of arrival. */
  tool(call: TapeCall): TapeAnswer {
    this.#toolCalls += 1
    const settings = this.#settings(call.name)
    const known = settings !== undefined || this.#names.has(call.name) || call.implemented === true
    const key = this.#keyOf('tool', call)
    const mode = settings?.mode ?? 'tape'
    // What was recorded for this very call, a model's mistake too, is what the product answered.
    if (mode !== 'tape' || !this.#queues.get(key)?.length) {
      if (!known) {
        return { kind: 'model-error', type: 'unknown-tool', message: `there is no tool named ${call.name}` }
      }
      if (!isArgumentObject(call.arguments)) {
        return { kind: 'model-error', type: 'invalid-arguments', message: `the arguments of ${call.name} are not a JSON object` }
      }
    }
    switch (mode) {
      case 'live':
        if (this.#mayRunLive(call, settings)) {
          this.#live.push(call.name)
          return { kind: 'live' }
        }
        return this.#miss('fail', `${call.name} has side effects and may run live only where the command line names it too (--allow-live)`)
      case 'mock':
        return settings?.mock === undefined
          ? this.#miss('fail', `${call.name} has mode mock, and env.json names no mock for it`)
          : { kind: 'mock', mock: settings.mock }
      case 'simulate':
        return { kind: 'simulate' }
      case 'tape':
        return this.#take('tool', key, call)
    }
  }

  /** What answers this io read. A miss counts as off the tape at the tool call that comes next. */
  io(read: TapeCall): TapeAnswer {
    const settings = this.#settings(read.name)
    if (settings?.mode === 'live') {
      this.#live.push(read.name)
      return { kind: 'live' }
    }
    if (settings?.mode === 'mock' && settings.mock !== undefined) return { kind: 'mock', mock: settings.mock }
    if (settings?.mode === 'simulate') return { kind: 'simulate' }
    return this.#take('io', this.#keyOf('io', read), read)
  }

  /** The next recorded value of a read that cannot wait (`hg.now`, `hg.random`), whatever its lane; `undefined` beyond the recording. Never off the tape. */
  instant(name: 'now' | 'random'): number | undefined {
    const entry = this.#entries.find((each) => each.kind === 'io' && each.name === name && !this.#consumed.has(each.seq))
    if (typeof entry?.result !== 'number') return undefined
    this.#consumed.add(entry.seq)
    return entry.result
  }

  report(): TapeReport {
    const unconsumed = this.#entries.filter((entry) => !this.#consumed.has(entry.seq) && this.#onTape(entry))
    return {
      offTape: { ...this.#offTape },
      unconsumed: unconsumed.map((entry) => entry.seq),
      unconsumedWrites: unconsumed.filter((entry) => this.#changesTheWorld(entry)).map((entry) => entry.seq),
      staleReads: this.#staleReads,
      live: [...this.#live],
      hits: this.#consumed.size,
      outOfOrder: this.#outOfOrder,
    }
  }

  /**
   * Where the candidate's calls first left those of the recording: off the tape, one skipped, or one out of its order; `undefined` while they
   * have not. With `turn`, only what was recorded in that user turn and before it must have happened. `step` is a tool call, from 1.
   */
  divergence(turn?: number): Divergence | undefined {
    const found: Divergence[] = []
    if (this.#offTape.first !== undefined) found.push({ step: this.#offTape.first, kind: 'off-tape' })
    const due = this.#entries.filter(
      (entry) => entry.kind === 'tool' && this.#onTape(entry) && (turn === undefined || entry.turn === undefined || entry.turn <= turn),
    )
    for (const lane of new Set(due.map((entry) => entry.lane))) {
      const parted = firstParting(
        due.filter((entry) => entry.lane === lane).map((entry) => entry.seq),
        this.#served.filter((hit) => hit.lane === lane),
        this.#toolCalls,
      )
      if (parted !== undefined) found.push(parted)
    }
    return found.sort((a, b) => a.step - b.step)[0]
  }

  /** The entries of this tool in this lane, used or not: what `nearest` and a simulation look at. */
  entriesOf(kind: TapeEntry['kind'], name: string, lane?: string): TapeEntry[] {
    return this.#entries.filter((entry) => entry.kind === kind && entry.name === name && entry.lane === lane)
  }

  #take(kind: TapeEntry['kind'], key: string, call: TapeCall): TapeAnswer {
    const queue = this.#queues.get(key) ?? []
    const entry = this.#reserved(key, call.callId) ?? queue[0]
    if (entry !== undefined) {
      queue.splice(queue.indexOf(entry), 1)
      this.#hit(entry)
      return { kind: 'hit', entry }
    }
    const settings = this.#settings(call.name)
    const policy = settings?.onMiss ?? 'error'
    const what = `${call.name} was not called with these arguments in the recording, or not this often`
    if (policy !== 'nearest') return this.#miss(policy, what)
    const near = nearestOf(
      call.arguments,
      this.entriesOf(kind, call.name, call.lane).filter((candidate) => kind === 'io' || !this.#changesTheWorld(candidate)),
    )
    return near === undefined ? this.#miss('error', what) : this.#miss('nearest', what, near)
  }

  /** The entry set aside for this call of a message with several identical ones. */
  #reserved(key: string, callId: string | undefined): TapeEntry | undefined {
    for (const reservation of this.#announced.get(key) ?? []) {
      const index = reservation.callIds.indexOf(callId)
      if (index === -1) continue
      const entry = reservation.entries[index]
      // Served: the place stays, so that the calls behind it keep theirs; ids need not be unique.
      reservation.callIds[index] = served
      if (entry !== undefined && !this.#consumed.has(entry.seq)) return entry
    }
    return undefined
  }

  #hit(entry: TapeEntry): void {
    this.#consumed.add(entry.seq)
    if (entry.kind === 'tool') this.#served.push({ seq: entry.seq, lane: entry.lane, call: this.#toolCalls, message: this.#messages })
    if (entry.seq < this.#lastHit) this.#outOfOrder += 1
    this.#lastHit = Math.max(this.#lastHit, entry.seq)
    if (this.#changesTheWorld(entry)) {
      if (entry.error === undefined) this.#lastWrite = Math.max(this.#lastWrite, entry.seq)
    } else if (entry.seq < this.#lastWrite) this.#staleReads += 1
  }

  #miss(policy: MissPolicy, message: string, entry?: TapeEntry): TapeAnswer {
    this.#offTape.count += 1
    this.#offTape.first ??= Math.max(1, this.#toolCalls)
    return entry === undefined ? { kind: 'miss', policy, message } : { kind: 'miss', policy, entry, message }
  }

  #keyOf(kind: TapeEntry['kind'], call: TapeCall): string {
    return tapeKey(
      { kind, name: call.name, arguments: call.arguments, ...(call.lane === undefined ? {} : { lane: call.lane }) },
      this.#settings(call.name),
    )
  }

  #changesTheWorld(entry: TapeEntry): boolean {
    return entry.kind === 'tool' && isEffectful(this.#settings(entry.name)?.effect ?? entry.effect)
  }

  /** A model may call `constructor`: only what env.json says counts. */
  #settings(name: string): ToolSettings | undefined {
    return Object.hasOwn(this.#options.tools, name) ? this.#options.tools[name] : undefined
  }

  #onTape(entry: TapeEntry): boolean {
    return (this.#settings(entry.name)?.mode ?? 'tape') === 'tape'
  }

  #mayRunLive(call: TapeCall, settings: ToolSettings | undefined): boolean {
    const effect = settings?.effect ?? call.effect ?? 'unknown'
    return !isEffectful(effect) || (this.#options.allowLive ?? []).includes(call.name)
  }
}

/** `unknown` is treated as `write` wherever it matters. */
export function isEffectful(effect: Effect): boolean {
  return effect === 'write' || effect === 'unknown'
}

interface ServedHit {
  seq: number
  lane: string | undefined
  /** Which of the candidate's tool calls, from 1. */
  call: number
  message: number
}

/** Calls of one model message may arrive in any order. */
function firstParting(due: readonly number[], served: readonly ServedHit[], toolCalls: number): Divergence | undefined {
  const inOrder = [...served].sort((a, b) => a.message - b.message || (a.message === 0 ? 0 : a.seq - b.seq))
  const seqs = new Set(served.map((hit) => hit.seq))
  for (const [index, seq] of due.entries()) {
    const hit = inOrder[index]
    if (hit?.seq === seq) continue
    return { step: hit?.call ?? toolCalls + 1, kind: seqs.has(seq) ? 'reordered' : 'skipped' }
  }
  const early = inOrder[due.length]
  return early === undefined ? undefined : { step: early.call, kind: 'reordered' }
}

interface Reservation {
  lane: string | undefined
  callIds: (string | undefined | typeof served)[]
  entries: TapeEntry[]
}

const served = Symbol('served')
