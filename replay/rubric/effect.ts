// What a call does to the world: the environment's word goes before the recording's, and what nobody declared is unknown.
import type { Effect } from '@homeground/sdk/trace'
import type { ToolSettings } from '../environment/types.ts'

/** The effect that env.json declares for the tool, else the recorded one, else `unknown`. */
export function effectOf(call: { name: string; effect?: Effect | undefined }, tools: Record<string, ToolSettings>): Effect {
  const declared = Object.hasOwn(tools, call.name) ? tools[call.name]?.effect : undefined
  return declared ?? call.effect ?? 'unknown'
}
