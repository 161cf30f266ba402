// Preference pairs: two attempts at one task that share what the environment said, and part at what the model said.
import { canonicalJson, type Json, type Message } from '@homeground/sdk/trace'
import { rowMessages } from '../formats/messages.ts'
import type { PreferencePair } from '../formats/preference.ts'
import { turnFault } from './quality.ts'
import { messageText, type Thread, type Turn, threadsOf } from './threads.ts'
import type { Candidate, DropReason } from './types.ts'

/** What two attempts at a task gave: a pair, or why it is none. */
export interface Parted {
  better: Candidate
  worse: Candidate
  result: { pair: PreferencePair; turn: Turn } | DropReason
}

/**
 * Up to `pairs` pairs of one task, the widest difference of score first, each attempt in one of them at most. Two attempts whose environment answered
 * differently are no pair: the next two are tried. The reason that is handed on is that of the widest, and only where no pair was found.
 */
export function pairsOf(scored: readonly Candidate[], options: { margin: number; pairs: number }): Parted[] {
  const found: Parted[] = []
  const used = new Set<Candidate>()
  let first: Parted | undefined
  for (const [better, worse] of bySpread(scored, options.margin)) {
    if (found.length === options.pairs) break
    if (used.has(better) || used.has(worse)) continue
    const parted = { better, worse, result: pairOf(better, worse) }
    first ??= parted
    if (typeof parted.result === 'string') continue
    found.push(parted)
    used.add(better).add(worse)
  }
  return found.length > 0 || first === undefined ? found : [first]
}

/** Every two whose scores differ by more than nothing and at least `margin`, the better one first. */
function bySpread(scored: readonly Candidate[], margin: number): [Candidate, Candidate][] {
  const score = ({ score: value }: Candidate): number => value ?? 0
  const order = [...scored].sort((a, b) => score(b) - score(a))
  const sides = order.flatMap((better, index) => order.slice(index + 1).map((worse): [Candidate, Candidate] => [better, worse]))
  const spread = ([better, worse]: [Candidate, Candidate]): number => score(better) - score(worse)
  // Of equal spreads the better ends of the order: best with worst, then second best with second worst.
  return sides.filter((each) => spread(each) > 0 && spread(each) >= margin).sort((a, b) => spread(b) - spread(a))
}

/** Where the two part, or why they cannot be a pair. */
function pairOf(better: Candidate, worse: Candidate): { pair: PreferencePair; turn: Turn } | DropReason {
  const [good] = threadsOf(better.episode)
  const [bad] = threadsOf(worse.episode)
  if (good === undefined || bad === undefined) return 'no-assistant-turn'
  if (promptText(good) !== promptText(bad)) return 'environment-diverged'
  const history = [...good.prompt]
  for (const [index, turn] of good.turns.entries()) {
    const other = bad.turns[index]
    if (other === undefined) return 'environment-diverged'
    if (messageText(turn.output, { callIds: false }) !== messageText(other.output, { callIds: false }))
      return parting(good, history, turn, other)
    if (afterText(turn) !== afterText(other)) return 'environment-diverged'
    history.push(turn.output, ...turn.after)
  }
  return 'environment-diverged'
}

function parting(thread: Thread, history: Message[], turn: Turn, other: Turn): { pair: PreferencePair; turn: Turn } | DropReason {
  const fault = turnFault(turn.call) ?? turnFault(other.call)
  if (fault !== undefined) return fault
  if (turn.output.parts.some((part) => part.type === 'tool_call' && part.invalid === true)) return 'invalid-arguments'
  return { pair: { history, chosen: turn.output, rejected: other.output, thread }, turn }
}

function promptText(thread: Thread): string {
  return thread.prompt.map((message) => messageText(message, { callIds: false })).join('\n')
}

/** What the environment answered to a turn, in the order of its calls, without their ids. */
function afterText({ output, after }: Turn): string {
  const rows = rowMessages([output, ...after], { dialect: 'trl' }).slice(1)
  return canonicalJson(rows.map(({ tool_call_id: _, ...row }): Json => row))
}
