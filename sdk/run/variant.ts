// hg.variant: what is under test (a prompt, a model, a switch). In production the default, or a canary's value for its share of sessions; in a replay no canary is drawn.
import type { Json } from '../trace/episode.ts'
import { currentFrame } from './context.ts'
import { jsonText } from './json-value.ts'
import { nodeCrypto } from './late-modules.ts'

/** A value for a share of the sessions. */
export interface Canary {
  value: Json
  /** In [0, 1]. */
  share: number
}

/** The value to use now; every span of the run says which it was. A replay's value comes as it was given: `Value` is what the arms file says. */
export function chooseVariant<Value extends Json>(name: string, otherwise: Value, canaries: Readonly<Record<string, Canary>>): Value {
  const frame = currentFrame()
  const replay = frame?.replay
  const given =
    replay === undefined
      ? canaryValue(name, canaries[name], frame?.session ?? frame?.traceId)
      : replay.seam.variant?.(name, typeof otherwise === 'string')
  const value = given ?? otherwise
  if (frame?.run !== undefined) {
    frame.run.variants ??= {}
    frame.run.variants[name] = typeof value === 'string' ? value : (jsonText(value) ?? '')
  }
  return value as Value
}

/** Sticky: the same session gets the same value as long as the share is the same or grows. */
function canaryValue(name: string, canary: Canary | undefined, session: string | undefined): Json | undefined {
  if (canary === undefined) return undefined
  const point =
    session === undefined
      ? Math.random()
      : nodeCrypto().createHash('sha256').update(`${name}\n${session}`).digest().readUInt32BE(0) / 2 ** 32
  return point < canary.share ? canary.value : undefined
}
