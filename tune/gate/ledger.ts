// gates.jsonl: every look at a held-out split, one line each. The more often a split was looked at, the surer a gate has to be.
import fs from 'node:fs'
import path from 'node:path'
import { makeFolder, parseInput, parseJson } from '@homeground/sdk/trace'
import { type LedgerEntry, ledgerEntrySchema } from './types.ts'

/** After so many gates a split has been looked at too often: at 0.05 / 2^6 a gate finds little but luck. */
export const wornOutAfter = 6

/** The k-th gate on a split (from 1) errs with probability 0.05 / 2^k at most: all that will ever run on it, 0.05 together. */
export function levelOf(gate: number): number {
  return 0.05 / 2 ** gate
}

/** The entries of one split, oldest first, each gate once with its last word. */
export function readLedger(file: string, testHash?: string): LedgerEntry[] {
  if (!fs.existsSync(file)) return []
  const entries = new Map<string, LedgerEntry>()
  for (const [index, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const at = { place: `${file}:${index + 1}`, what: 'a line of the ledger of gates' }
    const entry = parseInput(ledgerEntrySchema, parseJson(line), at)
    if (testHash === undefined || entry.testHash === testHash) entries.set(entry.id, entry)
  }
  return [...entries.values()]
}

/** Appends, and syncs: what was looked at stays looked at. */
export function writeLedger(file: string, entry: LedgerEntry): void {
  makeFolder(path.dirname(file))
  const opened = fs.openSync(file, 'a')
  try {
    fs.writeSync(opened, `${JSON.stringify(entry)}\n`)
    fs.fsyncSync(opened)
  } finally {
    fs.closeSync(opened)
  }
}
