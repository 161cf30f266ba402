// `actions`: the calls that changed the world are exactly those of the reference, in any order, and the user was told what the reference says.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import type { ToolSettings } from '../../environment/types.ts'
import { isEffectful } from '../effect.ts'
import { brokenOff, callText, madeCalls, saidToUser } from '../episode-reading.ts'
import { says } from '../text-match.ts'
import type { CriterionOf, Grader } from '../types.ts'

interface Action {
  name: string
  arguments: Json
}

/**
 * 1 where the effectful calls that succeeded equal the effectful calls of `reference.actions` as a multiset of name + canonical arguments, and every text of
 * `reference.outputs` was said to the user (unless `outputs` is false); else 0. Calls that failed or change nothing do not count on either side.
 */
export const actions: Grader<CriterionOf<'actions'>> = ({ criterion, episode, task, tools }) => {
  const { weight } = criterion
  const expected = task.reference?.actions
  if (expected === undefined) return { value: null, weight, reason: 'the task has no reference actions' }
  const broken = brokenOff(episode)
  if (broken !== undefined) return { value: null, weight, reason: broken }
  const made = madeCalls(episode).filter((call) => !call.failed && isEffectful(call, tools))
  const { missing, extra } = difference(
    // An expected call of a tool that the environment does not know is expected all the same.
    expected.filter((action) => isEffectful(action, tools)),
    made,
    tools,
  )
  const unsaid = criterion.outputs ? unsaidOutputs(saidToUser(episode), task.reference?.outputs ?? []) : []
  const faults = [
    ...missing.map((action) => `missing ${callText(action)}`),
    ...extra.map((action) => `unexpected ${callText(action)}`),
    ...unsaid.map((text) => `not said to the user: ${JSON.stringify(text)}`),
  ]
  if (faults.length > 0) return { value: 0, weight, reason: faults.join('; ') }
  return { value: 1, weight, reason: `all ${made.length} effectful calls are those of the reference` }
}

function unsaidOutputs(said: string, outputs: readonly string[]): string[] {
  return outputs.filter((text) => !says(said, text))
}

function difference(expected: readonly Action[], made: readonly Action[], tools: Record<string, ToolSettings>) {
  const open = new Map<string, Action[]>()
  for (const action of expected) {
    const key = keyOf(action, tools)
    open.set(key, [...(open.get(key) ?? []), action])
  }
  const extra = made.filter((call) => open.get(keyOf(call, tools))?.pop() === undefined)
  return { missing: [...open.values()].flat(), extra }
}

function keyOf(action: Action, tools: Record<string, ToolSettings>): string {
  const ignored = (Object.hasOwn(tools, action.name) ? tools[action.name]?.ignoreArguments : undefined) ?? []
  const value = action.arguments
  const kept =
    ignored.length > 0 && value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !ignored.includes(name)))
      : value
  return `${action.name} ${canonicalJson(kept)}`
}
