// What the model asked for last in a run, so that a tool that is not told its call id finds the call that it serves.
import type { Json } from '../trace/episode.ts'

/** One message of the model. Its calls may not be read yet: they are put together when somebody asks. */
export interface ModelTurn {
  /** The tool calls of the message, as far as they have come. Never throws. */
  calls(): readonly RequestedCall[]
  /** Calls that a tool has taken, by position. */
  readonly served: Set<number>
}

export interface RequestedCall {
  readonly name: string
  readonly callId: string | undefined
  /** Parsed; where the model wrote bad JSON the string as it was. */
  readonly arguments: Json
}
