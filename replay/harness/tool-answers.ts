// What a tool call or io read of a rollout gets: from the tape, a mock, a simulation or the product's own function, as the tool's mode says.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { HomegroundError, isJson, type Json } from '@homeground/sdk/trace'
import type { TapeEntry } from '../environment/types.ts'
import type { Tape } from '../tape/tape.ts'
import type { TapeAnswer } from '../tape/types.ts'
import type { ToolAnswers, ToolRequest, ToolServed } from './types.ts'

/** Thrown where the tool failed in the recording, or cannot be answered: to the product it is its own tool's error. */
export class ReplayedToolError extends Error {
  /** How the call left the tape; `undefined` for a recorded error and for the model's own mistake. */
  readonly offTape: string | undefined
  /** The recorded run ended after this call. */
  readonly ends: boolean
  /** What it took, on the rollout's own clock. */
  readonly durationMs: number

  constructor(type: string, message: string, options: { offTape?: string | undefined; ends?: boolean; durationMs?: number } = {}) {
    super(message)
    this.name = type
    this.offTape = options.offTape
    this.ends = options.ends ?? false
    this.durationMs = options.durationMs ?? 0
  }
}

export interface ToolAnswerOptions {
  tape: Tape
  /** Absolute; mocks are relative to it. */
  folder: string
  /** Ends the rollout: the miss policy is `fail`. */
  stop(reason: HomegroundError): void
  /** Times of what a call took when recorded that it takes now. @default 1 */
  latency?: number
  /** Lets it take that long for real. @default nobody waits */
  wait?(ms: number): Promise<void>
  /** Answers as the tool would, shown the recorded calls. Absent: simulating is an error. */
  simulate?(call: ToolRequest, recorded: readonly TapeEntry[]): Promise<Json | undefined>
}

export function toolAnswers(options: ToolAnswerOptions): ToolAnswers {
  return {
    tool: async (call) => await serve('tool', options.tape.tool(call), call, options),
    io: async (read) => await serve('io', options.tape.io(read), read, options),
  }
}

async function serve(kind: TapeEntry['kind'], answer: TapeAnswer, call: ToolRequest, options: ToolAnswerOptions): Promise<ToolServed> {
  switch (answer.kind) {
    case 'hit':
      return await fromEntry(answer.entry, options)
    case 'live':
      if (call.live === undefined) throw settingsFault(`${call.name} has mode live, and this harness has no function of the product to run`)
      return { result: await call.live() }
    case 'mock':
      return { result: await runMock(answer.mock, call, options.folder) }
    case 'simulate':
      return { result: await simulated(kind, call, options), offTape: 'simulate' }
    case 'model-error':
      throw new ReplayedToolError(answer.type, answer.message)
    case 'miss':
      return await missed(kind, answer, call, options)
  }
}

async function missed(
  kind: TapeEntry['kind'],
  answer: Extract<TapeAnswer, { kind: 'miss' }>,
  call: ToolRequest,
  options: ToolAnswerOptions,
): Promise<ToolServed> {
  switch (answer.policy) {
    case 'nearest':
      if (answer.entry === undefined) throw new ReplayedToolError('off-tape', answer.message, { offTape: 'error' })
      return await fromEntry(answer.entry, options, 'nearest')
    case 'simulate':
      return { result: await simulated(kind, call, options), offTape: 'simulate' }
    case 'error':
      throw new ReplayedToolError('off-tape', answer.message, { offTape: 'error' })
    case 'fail': {
      options.stop(new HomegroundError('off-tape', answer.message, { hint: 'set onMiss to error or nearest in env.json, or record more' }))
      throw new ReplayedToolError('off-tape', answer.message, { offTape: 'fail' })
    }
  }
}

async function fromEntry(entry: TapeEntry, { latency = 1, wait }: ToolAnswerOptions, offTape?: string): Promise<ToolServed> {
  const ends = entry.ends === true && offTape === undefined
  const durationMs = entry.durationMs * latency
  await wait?.(durationMs)
  if (entry.error !== undefined) throw new ReplayedToolError(entry.error.type, entry.error.message, { offTape, ends, durationMs })
  return { result: entry.result, durationMs, ...(offTape === undefined ? {} : { offTape }), ...(ends ? { ends } : {}) }
}

async function simulated(kind: TapeEntry['kind'], call: ToolRequest, options: ToolAnswerOptions): Promise<Json | undefined> {
  if (options.simulate === undefined) {
    const fault = settingsFault(`${call.name} is to be simulated, and env.json names no simulator: { model, url, … }`)
    options.stop(fault)
    throw fault
  }
  return await options.simulate(call, options.tape.entriesOf(kind, call.name, call.lane))
}

/** `mocks.mjs#refund`: called with the arguments and what else is known of the call. */
async function runMock(mock: string, call: ToolRequest, folder: string): Promise<Json | undefined> {
  const [file = '', name = 'default'] = mock.split('#')
  const module: Record<string, unknown> = await import(pathToFileURL(path.resolve(folder, file)).href)
  const run = module[name]
  if (typeof run !== 'function') throw settingsFault(`${call.name}: ${file} exports no function named ${name}`)
  const result: unknown = await run(call.arguments, { name: call.name, callId: call.callId, lane: call.lane })
  if (result !== undefined && !isJson(result)) throw settingsFault(`${call.name}: mock ${mock} gave what is not JSON`)
  return result
}

function settingsFault(message: string): HomegroundError {
  return new HomegroundError('invalid-settings', message, { hint: "mend env.json's tools (docs/formats.md)" })
}
