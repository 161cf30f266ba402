// The context that flows with a run: one AsyncLocalStorage for every copy of the SDK in the process. Two copies with two storages would run live tools in a replay.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type StartedHostSpan, underHostSpan } from './host-telemetry.ts'
import type { ModelTurn } from './model-turn.ts'
import type { Seam, SeamState } from './seam.ts'

/**
 * What is known at one point of the product's asynchronous work. Immutable: a step that goes deeper runs with a new frame.
 * Other copies (and versions) of the SDK read it: fields are added, never changed.
 */
export interface Frame {
  /** 32 hex; absent until the first span of a run is made. */
  readonly traceId?: string
  /** 16 hex: the span that spans made here are children of. */
  readonly spanId?: string
  /** Names of the agents it runs under, outermost first. */
  readonly agents: readonly string[]
  readonly session?: string
  readonly user?: string
  readonly tags?: Readonly<Record<string, string>>
  /** False: this episode is not recorded. */
  readonly sampled?: boolean
  /** False: bodies, arguments and results of what runs here are not recorded. */
  readonly captureContent?: boolean
  /** What belongs to the agent run as a whole and changes while it runs. */
  readonly run?: Run
  /** In a tool that is running: what the models that it calls itself said last. They are not the run's, which goes on behind it. */
  readonly within?: { turn?: ModelTurn }
  /** The call id of the tool that is running, where a framework told it. */
  readonly callId?: string
  readonly replay?: Replay
  /** The body that a recording fetch is handing to a fetch of the product's own: sent on by another recording one, it is the same call. */
  readonly sending?: string
  /** Which fetch of ours asked the global one of the moment: that may call ours in turn. */
  readonly asking?: { readonly by: typeof globalThis.fetch; readonly fetch: typeof globalThis.fetch }
  /** With `provider: 'host'`: the host's span that stands for `spanId`. */
  readonly hostSpan?: StartedHostSpan
}

/** One agent's run (or a rollout's outermost level): what its model said last, and which values its variants had. */
export interface Run {
  turn?: ModelTurn
  variants?: Record<string, string>
  /** Digests of the files that its calls have recorded. */
  files?: Set<string>
}

/** What `withSeam` hands to the product's run. */
export interface Replay {
  readonly seam: Seam
  readonly state: SeamState
  readonly signal?: AbortSignal
}

/** A switched-on `homeground()` of any copy of the SDK: it will ask the seam. */
export interface SdkInstance {
  readonly version: string
  /** Finishes the spans that have ended. */
  drain(): void
}

export interface RunStorage extends AsyncLocalStorage<Frame> {
  readonly instances: Set<SdkInstance>
  /** The frame of all work that has none: in a process that belongs to a replay as a whole. */
  outermost: Frame | undefined
  /** How many fetches were made that record: one alone has no other to call. */
  recordingFetches?: number
}

const key = Symbol.for('@homeground/sdk/seam@1')

/** The storage that all copies share; made by the first one that is loaded. */
export const runStorage: RunStorage = sharedStorage()

function sharedStorage(): RunStorage {
  const found: RunStorage | undefined = Reflect.get(globalThis, key)
  if (found !== undefined) return found
  const made: RunStorage = Object.assign(new AsyncLocalStorage<Frame>(), { instances: new Set<SdkInstance>(), outermost: undefined })
  Object.defineProperty(globalThis, key, { value: made })
  return made
}

/** Runs `part` under this frame; with the host's provider its spans nest there too. */
export function enterFrame<T>(frame: Frame, part: () => T): T {
  const { hostSpan } = frame
  if (hostSpan === undefined) return runStorage.run(frame, part)
  return runStorage.run(frame, () => underHostSpan(hostSpan, part))
}

/** The frame of the code that is running now. */
export function currentFrame(): Frame | undefined {
  return runStorage.getStore() ?? runStorage.outermost
}
