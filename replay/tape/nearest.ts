// The miss policy `nearest`: the entry of the same tool whose arguments differ in the fewest leaves; the earliest among equals.
import { canonicalJson, type Json } from '@homeground/sdk/trace'

/** `undefined` where there is no candidate. */
export function nearestOf<Entry extends { arguments: Json }>(value: Json, entries: readonly Entry[]): Entry | undefined {
  const wanted = leavesOf(value)
  let best: Entry | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    const distance = differingLeaves(wanted, leavesOf(entry.arguments))
    if (distance < bestDistance) {
      best = entry
      bestDistance = distance
    }
  }
  return best
}

function differingLeaves(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): number {
  let count = 0
  for (const [path, leaf] of a) if (b.get(path) !== leaf) count += 1
  for (const path of b.keys()) if (!a.has(path)) count += 1
  return count
}

/** Path to canonical leaf; an empty list or object is a leaf. */
function leavesOf(value: Json, path = '', into = new Map<string, string>()): Map<string, string> {
  const members: [string, Json][] =
    typeof value === 'object' && value !== null
      ? Array.isArray(value)
        ? [...value.entries()].map(([i, v]) => [String(i), v])
        : Object.entries(value)
      : []
  if (members.length === 0) into.set(path, canonicalJson(value))
  for (const [name, member] of members) leavesOf(member, `${path}/${name}`, into)
  return into
}
