// Why a replay differs from its recording, as far as the difference itself tells; and what to do about it.
import type { Difference } from './first-difference.ts'

export type Cause = 'unwrapped-clock' | 'unwrapped-random' | 'unwrapped-network' | 'changed-tool' | 'changed-code' | 'cut-recording'

/** The next action for each cause. */
export const advice: Readonly<Record<Cause, string>> = {
  'unwrapped-clock': 'the product reads a clock that replay does not control: read it in hg.io(name, () => …), or from Date',
  'unwrapped-random':
    'the product draws random numbers or ids that replay does not control: draw them in hg.io(name, () => …), or from Math.random or crypto',
  'unwrapped-network': 'the product reaches the network on its own: wrap that read with hg.io(name, fn), or make it a tool with hg.tool',
  'changed-tool': 'a tool is not what it was when this was recorded: record anew, or take the change back',
  'changed-code': 'the product builds other requests than when this was recorded: record anew, or take the change back',
  'cut-recording': 'the recording ends in mid-run: leave this episode out of the environment, or record it again',
}

/**
 * `unstable`: a second replay gave another value at the same place, so that no change of code explains it.
 * `place`: `tools` for a tool's definition or result.
 */
export function causeOf(difference: Difference, context: { place: 'tools' | 'other'; unstable: boolean }): Cause {
  const { expectedPart, actualPart } = difference
  if (looksLikeTime(expectedPart) && looksLikeTime(actualPart)) return 'unwrapped-clock'
  if (looksRandom(expectedPart, actualPart)) return 'unwrapped-random'
  if (context.unstable) return 'unwrapped-random'
  return context.place === 'tools' ? 'changed-tool' : 'changed-code'
}

const month = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const times = [
  // 2026-01-05, 2026-01-05T10:00:00.000Z, 5/1/2026
  /\d{4}-\d{2}-\d{2}/,
  /\d{1,2}[/.]\d{1,2}[/.]\d{2,4}/,
  // 10:00, 10:00:05.123
  /\b\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\b/,
  new RegExp(`\\b(${month})[a-z]*\\b`, 'i'),
  /\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b/i,
]

function looksLikeTime(text: string): boolean {
  if (times.some((pattern) => pattern.test(text))) return true
  // Seconds, milliseconds or nanoseconds since 1970, between 2015 and 2050.
  return (text.match(/\d{10,19}/g) ?? []).some((digits) => {
    const seconds = Number(digits.slice(0, 10))
    return [10, 13, 16, 19].includes(digits.length) && seconds > 1_420_000_000 && seconds < 2_524_608_000
  })
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

function looksRandom(expected: string, actual: string): boolean {
  const both = (pattern: RegExp) => pattern.test(expected) && pattern.test(actual)
  if (both(uuid) || both(/\b0\.\d{6,}/)) return true
  // Ids: the same length, letters and digits mixed in both.
  const token = /\b(?=[a-z0-9_-]*\d)(?=[a-z0-9_-]*[a-z])[a-z0-9_-]{6,}\b/i
  return both(token) && token.exec(expected)?.[0].length === token.exec(actual)?.[0].length
}
