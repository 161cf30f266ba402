// `tool_called`, `no_tool_called`, `tool_sequence`: which tools the agent asked for. An attempt that failed is an attempt.
import { canonicalJson, type Json } from '@homeground/sdk/trace'
import { callText, madeCalls } from '../episode-reading.ts'
import type { CriterionOf, Grader } from '../types.ts'

/** At least `min` calls of the tool, whose arguments include `arguments` (members that it does not name may be anything). */
export const toolCalled: Grader<CriterionOf<'tool_called'>> = ({ criterion, episode }) => {
  const { weight, tool, min } = criterion
  const wanted = criterion.arguments
  const calls = madeCalls(episode).filter((call) => call.name === tool && (wanted === undefined || includes(call.arguments, wanted)))
  const what = wanted === undefined ? tool : callText({ name: tool, arguments: wanted })
  return { value: calls.length >= min ? 1 : 0, weight, reason: `${what} called ${times(calls.length)}, wanted at least ${times(min)}` }
}

/** None of `tools` was called; without `tools`, none at all. */
export const noToolCalled: Grader<CriterionOf<'no_tool_called'>> = ({ criterion, episode }) => {
  const { weight, tools } = criterion
  const calls = madeCalls(episode).filter((call) => tools === undefined || tools.includes(call.name))
  if (calls.length === 0) return { value: 1, weight, reason: 'not called' }
  return { value: 0, weight, reason: `called ${[...new Set(calls.map((call) => call.name))].join(', ')}` }
}

/** The tools were called in this order; others may lie between. */
export const toolSequence: Grader<CriterionOf<'tool_sequence'>> = ({ criterion, episode }) => {
  const { weight, tools } = criterion
  let next = 0
  for (const call of madeCalls(episode)) if (call.name === tools[next]) next += 1
  if (next === tools.length) return { value: 1, weight, reason: `called ${tools.join(' -> ')}` }
  return {
    value: 0,
    weight,
    reason: `${next === 0 ? 'from the start' : `after ${tools.slice(0, next).join(' -> ')}`}, ${tools[next]} was not called`,
  }
}

function includes(value: Json, wanted: Json): boolean {
  if (!isObject(value) || !isObject(wanted)) return canonicalJson(value) === canonicalJson(wanted)
  return Object.entries(wanted).every(([name, member]) => {
    const found = Object.hasOwn(value, name) ? value[name] : undefined
    return found !== undefined && includes(found, member)
  })
}

function isObject(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
