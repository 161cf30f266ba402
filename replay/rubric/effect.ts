// Which calls change the world: the environment's word goes before the recording's, and what nobody declared counts as a write.
import type { Effect } from '@homeground/sdk/trace'
import type { ToolSettings } from '../environment/types.ts'

/** True for effect `write` and for `unknown`. */
export function isEffectful(call: { name: string; effect?: Effect }, tools: Record<string, ToolSettings>): boolean {
  const effect = effectOf(call, tools)
  return effect === 'write' || effect === 'unknown'
}

/** The effect that env.json declares for the tool, else the recorded one, else `unknown`. */
export function effectOf(call: { name: string; effect?: Effect }, tools: Record<string, ToolSettings>): Effect {
  const declared = Object.hasOwn(tools, call.name) ? tools[call.name]?.effect : undefined
  return declared ?? call.effect ?? 'unknown'
}
