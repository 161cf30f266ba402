// Which split a session belongs to: from a hash of its name alone, so that a rebuild with more data moves nothing.
import { sha256Hex } from '@homeground/sdk/trace'
import type { Split } from './types.ts'

export type SplitShares = Readonly<Record<Split, number>>

export const defaultSplits: SplitShares = { train: 0.6, validation: 0.2, test: 0.2 }

/** Fewer sessions than this in the test split, and a comparison on it can say little. */
export const fewTestSessions = 12

/** `group`: the session's or user's id. Shares need not add up to 1. */
export function splitOf(group: string, shares: SplitShares = defaultSplits): Split {
  const total = shares.train + shares.validation + shares.test
  const at = (Number.parseInt(sha256Hex(`split\n${group}`).slice(0, 12), 16) / 2 ** 48) * total
  if (at < shares.train) return 'train'
  return at < shares.train + shares.validation ? 'validation' : 'test'
}
