// `actions`: the calls that changed the world are exactly those of the reference, in any order, and the user was told what the reference says.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import type { ToolSettings } from '../../environment/types.ts'
import { matchedArguments } from '../../tape/key.ts'
import { isEffectful } from '../../tape/tape.ts'
import { effectOf } from '../effect.ts'
import { brokenOff, callText, type MadeCall, madeCalls, saidToUser } from '../episode-reading.ts'
import { says } from '../text-match.ts'
import type { CriterionOf, Grader } from '../types.ts'

interface Action {
  name: string
  arguments: Json
}

/**
 * 1 where the effectful calls that succeeded equal the effectful calls of `reference.actions` as a multiset of name + canonical arguments, and every text of
 * `reference.outputs` was said to the user (unless `outputs` is false); else 0. Calls that failed or change nothing do not count on either side; one that a
 * recording had no answer for did not fail by the product's doing, and counts as made.
 */
export const actions: Grader<CriterionOf<'actions'>> = ({ criterion, episode, task, tools }) => {
  const { weight } = criterion
  const expected = task.reference?.actions
  if (expected === undefined) return { value: null, weight, reason: 'the task has no reference actions' }
  const broken = brokenOff(episode)
  if (broken !== undefined) return { value: null, weight, reason: broken }
  const calls = madeCalls(episode)
  const made = calls.filter((call) => (!call.failed || call.unanswered) && isEffectful(effectOf(call, tools)))
  const recorded = new Map(calls.map((call) => [call.name, call.effect]))
  const { missing, extra } = difference(
    expected.filter(({ name }) => isEffectful(effectOf({ name, effect: recorded.get(name) }, tools))),
    made,
    tools,
  )
  const unsaid = criterion.outputs ? unsaidOutputs(saidToUser(episode), task.reference?.outputs ?? []) : []
  const faults = [
    ...missing.map((action) => `missing ${callText(action)}`),
    ...extra.map((action) => `unexpected ${callText(action)}${action.unanswered ? ', which the recording has no answer to' : ''}`),
    ...unsaid.map((text) => `not said to the user: ${JSON.stringify(text)}`),
  ]
  if (faults.length > 0) return { value: 0, weight, reason: faults.join('; ') }
  return { value: 1, weight, reason: `all ${made.length} effectful calls are those of the reference` }
}

function unsaidOutputs(said: string, outputs: readonly string[]): string[] {
  return outputs.filter((text) => !says(said, text))
}

function difference(expected: readonly Action[], made: readonly MadeCall[], tools: Record<string, ToolSettings>) {
  const open = new Map<string, Action[]>()
  for (const action of expected) {
    const key = keyOf(action, tools)
    open.set(key, [...(open.get(key) ?? []), action])
  }
  const extra = made.filter((call) => open.get(keyOf(call, tools))?.pop() === undefined)
  return { missing: [...open.values()].flat(), extra }
}

/** As the tape matches calls: after redaction, less ignored arguments. */
function keyOf(action: Action, tools: Record<string, ToolSettings>): string {
  const settings = Object.hasOwn(tools, action.name) ? tools[action.name] : undefined
  return `${action.name} ${canonicalJson(matchedArguments(action.arguments, settings))}`
}
