// Preference pairs: two attempts at one task that share what the environment said, and part at what the model said.
import { canonicalJson, type Json, type Message } from '@homeground/sdk/trace'
import { rowMessages } from '../formats/messages.ts'
import type { PreferencePair } from '../formats/preference.ts'
import { turnFault } from './quality.ts'
import { messageText, type Thread, type Turn, threadsOf } from './threads.ts'
import type { Candidate, DropReason } from './types.ts'

/** Better first. Best with worst, second best with second worst, and so on, while they differ by more than nothing and at least `margin`. */
export function chooseSides(scored: readonly Candidate[], options: { margin: number; pairs: number }): [Candidate, Candidate][] {
  const order = [...scored].sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
  const sides: [Candidate, Candidate][] = []
  for (let index = 0; index < Math.floor(order.length / 2) && sides.length < options.pairs; index++) {
    const better = order[index]
    const worse = order[order.length - 1 - index]
    if (better === undefined || worse === undefined) break
    const difference = (better.score ?? 0) - (worse.score ?? 0)
    if (difference <= 0 || difference < options.margin) break
    sides.push([better, worse])
  }
  return sides
}

/** Where the two part, or why they cannot be a pair. */
export function pairOf(better: Candidate, worse: Candidate): { pair: PreferencePair; turn: Turn } | DropReason {
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
