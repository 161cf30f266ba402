// gates.jsonl: every look at a held-out split. A gate's number is its place in this file: it appends the line that opens it, then reads back where it stands,
// so that gates that begin at one time have a number each, and one that was killed keeps its own. A second line, when it ends, says what came of it.
import fs from 'node:fs'
import path from 'node:path'
import { makeFolder, parseInput, parseJson } from '@homeground/sdk/trace'
import { type GateLook, type LedgerEntry, type LedgerLine, ledgerLineSchema } from './types.ts'

/** After so many gates a split has been looked at too often: at 0.05 / 2^6 a gate finds little but luck. */
export const wornOutAfter = 6

/** The k-th gate on a split (from 1) errs with probability 0.05 / 2^k at most: all that will ever run on it, 0.05 together. */
export function levelOf(gate: number): number {
  return 0.05 / 2 ** gate
}

/** The gates on one split in the order in which they were opened, each once, with its number and its last word. @throws HomegroundError invalid-input with `file:line` */
export function readLedger(file: string, testHash: string): LedgerEntry[] {
  const lines = new Map<string, LedgerLine>()
  for (const line of readLines(file)) {
    // The time of the gate is when it was opened.
    if (line.testHash === testHash) lines.set(line.id, { ...line, at: lines.get(line.id)?.at ?? line.at })
  }
  return [...lines.values()].map((line, index) => ({ ...line, gate: index + 1 }))
}

/** Before the look. The same gate again is the one that is there. @throws Error where the line cannot be written whole */
export function openGate(file: string, look: GateLook): LedgerEntry {
  const known = find(file, look)
  if (known !== undefined) return known
  appendLine(file, look)
  const opened = find(file, look)
  if (opened === undefined) throw new Error(`${file} does not keep what is appended to it`)
  return opened
}

/** What came of it. */
export function closeGate(file: string, opened: LedgerEntry, end: { promoted: boolean; verdict: string }): void {
  appendLine(file, { ...opened, ...end })
}

function find(file: string, { testHash, id }: GateLook): LedgerEntry | undefined {
  return readLedger(file, testHash).find((entry) => entry.id === id)
}

function readLines(file: string): LedgerLine[] {
  if (!fs.existsSync(file)) return []
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      if (text.trim() === '' || isTorn(text)) return []
      return [parseInput(ledgerLineSchema, parseJson(text), { place: `${file}:${index + 1}`, what: 'a line of the ledger of gates' })]
    })
}

/** The beginning of a line whose writer was killed in it, or whose disk was full: it never came to look, since the look waits for the whole line. */
function isTorn(text: string): boolean {
  return text.startsWith('{') && parseJson(text) === undefined
}

/** One write at the end of the file, which no other process can come between, and on the disk before anything is looked at. */
function appendLine(file: string, line: LedgerLine): void {
  makeFolder(path.dirname(file))
  const opened = fs.openSync(file, 'a+')
  try {
    const bytes = Buffer.from(`${endsWhole(opened) ? '' : '\n'}${JSON.stringify(line)}\n`)
    const written = fs.writeSync(opened, bytes)
    if (written < bytes.length)
      throw Object.assign(new Error(`${file}: ${written} of ${bytes.length} bytes were written`), { code: 'ENOSPC' })
    fs.fsyncSync(opened)
  } finally {
    fs.closeSync(opened)
  }
}

function endsWhole(opened: number): boolean {
  const { size } = fs.fstatSync(opened)
  const last = Buffer.alloc(1)
  return size === 0 || (fs.readSync(opened, last, 0, 1, size - 1) === 1 && last.toString() === '\n')
}
