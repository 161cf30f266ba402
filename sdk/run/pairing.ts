// Which of the model's calls a tool serves. Frameworks tell the id; else it is found in the run's last model message.
import type { Json } from '../trace/episode.ts'
import type { Frame } from './context.ts'
import { jsonValue } from './json-value.ts'
import type { ModelTurn, RequestedCall } from './model-turn.ts'

/** A tool has begun: which message of the model was the last one then. */
export interface Claim {
  turn: ModelTurn | undefined
  name: string
  callId: string | undefined
  given: Json | undefined
  /** What the tool's schema makes of arguments, where it can say so at once. */
  checked?: (args: Json) => unknown
}

export function claimCall(frame: Frame | undefined, name: string, callId: string | undefined, given: unknown): Claim {
  return { turn: frame?.run?.turn, name, callId: callId ?? frame?.callId, given: jsonValue(given) }
}

/**
 * The call that is served, and takes it. By id; else among the unserved calls of that name the one whose arguments were given as they are, the one that the
 * schema turns into those given, the one whose arguments are among those given, the first. Undefined where the model asked for none.
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

function likeliest<Open extends { call: RequestedCall }>(open: readonly Open[], { given, checked }: Claim): Open | undefined {
  if (open.length < 2) return open[0]
  const gives = ({ call }: Open): boolean => {
    try {
      return same(jsonValue(checked?.(call.arguments)), given)
    } catch {
      return false
    }
  }
  return (
    open.find(({ call }) => same(call.arguments, given)) ??
    open.find(gives) ??
    open.find(({ call }) => covers(given, call.arguments)) ??
    open[0]
  )
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return covers(a, b) && covers(b, a)
}

/** True when everything in `part` stands in `whole` too. */
function covers(whole: Json | undefined, part: Json | undefined): boolean {
  if (whole === part) return true
  if (typeof whole !== 'object' || typeof part !== 'object' || whole === null || part === null) return false
  if (Array.isArray(whole) || Array.isArray(part)) {
    return (
      Array.isArray(whole) && Array.isArray(part) && whole.length === part.length && part.every((each, index) => covers(whole[index], each))
    )
  }
  return Object.entries(part).every(([key, value]) => covers(whole[key], value))
}
