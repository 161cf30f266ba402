// Why an episode is not to be learned from, whatever it scored: it has no turn, or a turn that did not come to its end.
import type { Episode, ModelCall } from '@homeground/sdk/trace'
import { type Thread, threadsOf } from './threads.ts'
import type { Candidate, DropReason } from './types.ts'

export interface Judged {
  threads: Thread[]
  reason: DropReason | undefined
  /** Turns with a call whose arguments are not JSON. */
  invalidArguments: number
}

/** `reason` is of the first fault in this order: no turn, unfinished, truncated, filtered, off the tape, invalid arguments. */
export function judge(candidate: Candidate, options: { invalidArguments?: 'drop' | 'keep'; offTape?: 'drop' | 'keep' } = {}): Judged {
  const threads = threadsOf(candidate.episode)
  const turns = threads.flatMap((thread) => thread.turns)
  const invalidArguments = turns.filter(({ output }) =>
    output.parts.some((part) => part.type === 'tool_call' && part.invalid === true),
  ).length
  const reasonsOf = new Set(turns.map(({ call }) => turnFault(call)))
  const reason = (): DropReason | undefined => {
    if (turns.length === 0) return 'no-assistant-turn'
    if (candidate.stopped === true || isUnfinished(candidate.episode) || reasonsOf.has('unfinished')) return 'unfinished'
    if (reasonsOf.has('truncated')) return 'truncated'
    if (reasonsOf.has('filtered')) return 'filtered'
    if (options.offTape !== 'keep' && wasUnanswered(candidate.episode)) return 'off-tape'
    return invalidArguments > 0 && options.invalidArguments !== 'keep' ? 'invalid-arguments' : undefined
  }
  return { threads, reason: reason(), invalidArguments }
}

/** What is wrong with a turn as such. */
export function turnFault(call: ModelCall): 'truncated' | 'unfinished' | 'filtered' | undefined {
  const reason = call.response?.finishReasons[call.chosen ?? 0]
  if (call.error !== undefined || call.partial === true || reason === 'error') return 'unfinished'
  if (reason === 'length') return 'truncated'
  return reason === 'content_filter' ? 'filtered' : undefined
}

/** A tool call that the recording had no answer to: the model read, and went on from, an error that no tool has given. */
function wasUnanswered(episode: Episode): boolean {
  return episode.steps.some((step) => step.kind === 'tool' && step.offTape !== undefined && step.error !== undefined)
}

/** The run itself failed, or its last model call did. A failed call that the product made good is no fault. */
function isUnfinished(episode: Episode): boolean {
  const last = episode.steps.findLast((step) => step.kind === 'model')
  return episode.error !== undefined || (last !== undefined && last.error !== undefined)
}
