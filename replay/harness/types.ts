// One rollout: a task played once by an arm. The job is plain data, so that it can be handed to another thread; so is its result.
import type { Episode, HomegroundError, Json, Usage } from '@homeground/sdk/trace'
import type { EnvironmentFile, HarnessSettings, TapeEntry, Task, ToolSettings } from '../environment/types.ts'
import type { AnswerCacheSettings } from '../gateway/answer-cache.ts'
import type { EndpointDeps } from '../gateway/endpoint.ts'
import type { ModelSource } from '../gateway/types.ts'
import type { Billed } from '../rubric/bill.ts'
import type { Prices } from '../rubric/cost.ts'
import type { Arm, Rollout } from '../run/types.ts'
import type { Tape } from '../tape/tape.ts'
import type { UserSimulator } from './user-simulator.ts'
import type { VirtualClock } from './virtual/virtual-clock.ts'

export interface RolloutJob {
  task: Task
  entries: readonly TapeEntry[]
  /** For the arm `recorded`. */
  recording?: Episode
  /** Absolute folder of the environment: module and mock paths are relative to it. */
  folder: string
  project: string
  unit: EnvironmentFile['unit']
  harness: HarnessSettings
  tools: Readonly<Record<string, ToolSettings>>
  /** Answers for tools, and for the user, where they are simulated. */
  simulator?: NonNullable<EnvironmentFile['simulator']>
  /** The user's turns are not those recorded, but what the simulator says. */
  simulatedUser?: true
  arm: Arm
  repeat: number
  run: string
  seed: number
  /** Recorded tool results and reads take so many times what they took when recorded: for real, but in harness `module`, whose own clock moves. @default no time; in harness `module` 1 */
  latency?: number
  /** Tools with side effects that the command line allows to run live. */
  allowLive: readonly string[]
  /** What all rollouts of the arm share, in every thread: an ArmGate's memory. */
  gate?: SharedArrayBuffer
  cache?: AnswerCacheSettings
  /** For a limit of cost, and for what the simulator costs. */
  prices?: Prices
}

export interface RolloutDeps extends EndpointDeps {
  /** Of a clock that never goes back. */
  monotonicMs(): number
  signal?: AbortSignal
}

/** What is left to add for a line of rollouts.jsonl: its scores and cost. */
export interface RolloutResult {
  episode: Episode
  stop: string
  error?: { type: string; message: string }
  offTape: Rollout['offTape']
  unconsumed: number[]
  unconsumedWrites: number[]
  staleReads: number
  live: string[]
  /** How many tool calls and reads a model answered in the tool's place. */
  simulated?: number
  /** What it took to answer for tools and user. */
  simulators?: Billed
  userTurns?: NonNullable<Rollout['userTurns']>
  divergence?: { step: number; kind: string }
  /** Request parameters that the arm's dialect could not say. */
  untranslated?: string[]
  /** Model calls that were answered out of the cache. */
  cachedCalls?: number
  usage: Usage
  durationMs: number
}

/** What a harness plays with. The episode is what the recorder was told. */
export interface Play {
  job: RolloutJob
  model: ModelSource
  tape: Tape
  /** What answers a tool call or io read, whatever its mode. */
  tools: ToolAnswers
  deps: RolloutDeps
  /** Aborted on time-out, on `off-tape`, and when the run is stopped. */
  signal: AbortSignal
  ids: { trace: string; span(): string }
  /** The rollout's own time: begins when the recording began. */
  clock: VirtualClock
  /** Ends the rollout at once, for this reason. */
  stop(reason: HomegroundError): void
  /** Says the user's next turn; absent where it is as recorded. */
  user?: UserSimulator
}

/** How a harness ended: the episode, and why it stopped. */
export interface Played {
  episode: Episode
  stop: string
  error?: { type: string; message: string }
  userTurns?: NonNullable<Rollout['userTurns']>
}

export type Harness = (play: Play) => Promise<Played>

export interface ToolAnswers {
  /** @throws ReplayedToolError: what the product sees as its own tool's error */
  tool(call: ToolRequest): Promise<ToolServed>
  io(read: ToolRequest): Promise<ToolServed>
}

export interface ToolRequest {
  name: string
  arguments: Json
  callId?: string
  lane?: string
  implemented?: boolean
  effect?: import('@homeground/sdk/trace').Effect
  /** The product's own function; absent in a harness that has none. */
  live?(): Promise<Json | undefined>
}

export interface ToolServed {
  result: Json | undefined
  /** How the call left the tape; `simulate` where a model answered it, whatever the mode. */
  offTape?: string
  /** What it took, on the rollout's own clock. */
  durationMs?: number
  /** The recorded run ended after this call. */
  ends?: boolean
}
