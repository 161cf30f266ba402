// Why a replay differs from its recording, as far as the difference itself tells; and what to do about it.
import type { Difference } from './first-difference.ts'

export type Cause = 'unwrapped-clock' | 'unwrapped-random' | StoppedBy | 'changed-tool' | 'changed-code' | 'cut-recording'

/** Errors of a rollout that ended because its product did what a replay does not see. */
export const stoppedBy = ['unwrapped-network', 'unwrapped-process'] as const
export type StoppedBy = (typeof stoppedBy)[number]

/** The next action for each cause. */
export const advice: Readonly<Record<Cause, string>> = {
  'unwrapped-clock':
    'the product reads a time that was not recorded, and the clock of a replay is near it at best: read it from hg.now(), or in hg.io(name, () => …)',
  'unwrapped-random':
    'the product draws random numbers or ids that were not recorded, and a replay draws others: draw them from hg.random(), or in hg.io(name, () => …)',
  'unwrapped-network': 'the product reaches the network on its own: wrap that read with hg.io(name, fn), or make it a tool with hg.tool',
  'unwrapped-process':
    'the product starts processes or threads of its own: wrap what they are for with hg.io(name, fn), make it a tool with hg.tool, or allow it (allowProcesses)',
  'changed-tool': 'a tool is not what it was when this was recorded: record anew, or take the change back',
  'changed-code': 'the product builds other requests than when this was recorded: record anew, or take the change back',
  'cut-recording': 'the recording ends in mid-run: leave this episode out of the environment, or record it again',
}

/**
 * What differs only in times was read from a clock, what differs only in ids and fractions was drawn. `unstable`: a second replay gave another value at the same place, so that no change of code explains it.
 * `place`: `tools` for a tool's definition or result.
 */
export function causeOf(difference: Difference, context: { place: 'tools' | 'other'; unstable: boolean }): Cause {
  const { expectedPart, actualPart } = difference
  if (differsOnlyIn(timeMasks, expectedPart, actualPart)) return 'unwrapped-clock'
  if (differsOnlyIn(randomMasks, expectedPart, actualPart)) return 'unwrapped-random'
  if (context.unstable) return 'unwrapped-random'
  // Both in one text: the first is as good as the second.
  if (differsOnlyIn([...timeMasks, ...randomMasks], expectedPart, actualPart)) return 'unwrapped-clock'
  return context.place === 'tools' ? 'changed-tool' : 'changed-code'
}

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*'
const timeMasks: readonly RegExp[] = [
  // 2026-01-05, 2026-01-05T10:00:00.000Z, 5/1/2026
  /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
  /\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b/g,
  // 10:00, 10:00:05.123 PM
  /\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[AP]M)?\b/gi,
  // 5 January 2026, Jan 5, 2026
  new RegExp(`\\b(?:\\d{1,2}(?:st|nd|rd|th)?\\s+)?${month}(?:\\s+\\d{1,2}(?:st|nd|rd|th)?)?(?:,?\\s+\\d{4})?\\b`, 'gi'),
  /\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b/gi,
  // Seconds, milliseconds, microseconds or nanoseconds since 1970, between 2014 and 2049.
  /\b(?:1[4-9]|2[0-4])\d{8}(?:\d{3}){0,3}(?:\.\d+)?\b/g,
]
const randomMasks: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b0?\.\d{6,}(?:e-\d+)?\b/gi,
  // Ids: letters and digits mixed, or hex. No look further than an id is long: a text of short words with hyphens would be looked through from each.
  /\b(?=[a-z0-9_-]{0,99}\d)(?=[a-z0-9_-]{0,99}[a-z])[a-z0-9_-]{6,}\b/gi,
]

/** True where both sides hold such tokens, as many on each, and are the same but for them. */
function differsOnlyIn(masks: readonly RegExp[], expected: string, actual: string): boolean {
  const masked = (text: string) => masks.reduce((rest, mask) => rest.replace(mask, '\u0000'), text)
  const [before, after] = [masked(expected), masked(actual)]
  return before.includes('\u0000') && before === after
}
