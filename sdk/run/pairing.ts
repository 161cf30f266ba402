// Which of the model's calls a tool serves. Frameworks tell the id; else it is found in the run's last model message.
import type { Json } from '../trace/episode.ts'
import { textOfJson } from '../trace/json.ts'
import type { Frame } from './context.ts'
import { jsonValue } from './json-value.ts'
import type { ModelTurn, RequestedCall } from './model-turn.ts'

/** A tool has begun: which message of the model was the last one then. */
export interface Claim {
  turn: ModelTurn | undefined
  name: string
  callId: string | undefined
  given: Json | undefined
}

export function claimCall(frame: Frame | undefined, name: string, callId: string | undefined, given: unknown): Claim {
  return { turn: frame?.within?.turn ?? frame?.run?.turn, name, callId: callId ?? frame?.callId, given: jsonValue(given) }
}

/**
 * The call that is served, and takes it. By id; else among the unserved calls of that name the one whose arguments are most like those given, of equals the
 * first. The schema between the two is not asked: it is the product's code, which may look into a database, or fail in a promise that nobody holds. Undefined
 * where the model asked for none.
 */
export function serveCall(claim: Claim): RequestedCall | undefined {
  const { turn } = claim
  if (turn === undefined) return undefined
  const open = turn
    .calls()
    .map((call, index) => ({ call, index }))
    .filter(({ call, index }) => call.name === claim.name && !turn.served.has(index))
  const found = claim.callId === undefined ? likeliest(open, claim) : open.find(({ call }) => call.callId === claim.callId)
  if (found === undefined) return undefined
  turn.served.add(found.index)
  return found.call
}

function likeliest<Open extends { call: RequestedCall }>(open: readonly Open[], { given }: Claim): Open | undefined {
  if (open.length < 2) return open[0]
  const scores = open.map(({ call }) => likeness(call.arguments, given))
  return open[scores.indexOf(Math.max(...scores))]
}

/** The values written that the function got in the same place, less those that it did not get so; a schema may have made a number of a text. */
function likeness(written: unknown, given: unknown): number {
  if (typeof written !== 'object' || typeof given !== 'object' || written === null || given === null)
    return textOfJson(written) === textOfJson(given) ? 1 : -1
  return Object.entries(written).reduce((sum, [key, value]) => sum + likeness(value, Reflect.get(given, key)), 0)
}
