// When two calls are the same call: tool name, lane, and arguments in canonical form after redaction, less the ignored ones.
import { canonicalHash, canonicalJson, type Json } from '@homeground/sdk/trace'
import type { TapeEntry, ToolSettings } from '../environment/types.ts'
import { isArgumentObject } from './arguments.ts'

export type MatchSettings = Pick<ToolSettings, 'ignoreArguments' | 'redact'>

/** The key under which a tape finds an entry. Equal keys are interchangeable: first in, first out. */
export function tapeKey(call: { kind: TapeEntry['kind']; name: string; lane?: string; arguments: Json }, settings?: MatchSettings): string {
  return `${call.kind}\n${call.name}\n${call.lane ?? ''}\n${canonicalJson(matchedArguments(call.arguments, settings))}`
}

/** An entry's `hash`: of the canonical arguments, whatever the settings say. */
export function argumentsHash(value: Json): string {
  return canonicalHash(value)
}

/** Redaction first, so that a recording that was redacted when it was made matches a candidate that says the real value; then the ignored ones go, at the top level only. */
export function matchedArguments(value: Json, settings: MatchSettings | undefined): Json {
  let matched = value
  for (const rule of settings?.redact ?? []) matched = redactPath(matched, pathOf(rule.path), rule.replace)
  const ignored = settings?.ignoreArguments
  if (ignored === undefined || ignored.length === 0 || !isArgumentObject(matched)) return matched
  return Object.fromEntries(Object.entries(matched).filter(([name]) => !ignored.includes(name)))
}

/** `customer.cards.*.number`: names and indexes, `*` for every member. A leading `$.` is allowed. */
function pathOf(path: string): string[] {
  return path
    .replace(/^\$\.?/, '')
    .split('.')
    .filter(Boolean)
}

function redactPath(value: Json, path: readonly string[], replace: string): Json {
  const [head, ...rest] = path
  if (head === undefined) return replace
  if (Array.isArray(value)) {
    return value.map((item, index) => (head === '*' || head === String(index) ? redactPath(item, rest, replace) : item))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, head === '*' || head === name ? redactPath(member, rest, replace) : member]),
  )
}
