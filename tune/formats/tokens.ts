// Rows of exact token ids: what the model sampled, as its server reported it. No template and no tokenizer stands between what was said and what is trained.
import type { Thread, Turn } from '../dataset/threads.ts'
import type { Row } from './messages.ts'

/** Of labels: not trained. */
const untrained = -100

/**
 * `{ input_ids, labels }` for each run of turns whose prompts go on with exactly the tokens before them; a prompt that does not (history that was
 * rewritten, or tokenises otherwise) begins a row of its own. Undefined where a turn carries no token ids.
 */
export function tokenRows(thread: Thread): { row: Row; turns: Turn[] }[] | undefined {
  const rows: { ids: number[]; labels: number[]; turns: Turn[] }[] = []
  for (const turn of thread.turns) {
    const { tokens } = turn.call
    if (tokens === undefined || tokens.completionIds.length === 0) return undefined
    const { promptIds, completionIds } = tokens
    const last = rows.at(-1)
    if (last !== undefined && beginsWith(promptIds, last.ids)) append(last, turn, promptIds.slice(last.ids.length), completionIds)
    else rows.push(append({ ids: [], labels: [], turns: [] }, turn, promptIds, completionIds))
  }
  return rows.map(({ ids, labels, turns }) => ({ row: { input_ids: ids, labels }, turns }))
}

function append<T extends { ids: number[]; labels: number[]; turns: Turn[] }>(
  row: T,
  turn: Turn,
  between: readonly number[],
  completion: readonly number[],
): T {
  row.ids = [...row.ids, ...between, ...completion]
  row.labels = [...row.labels, ...between.map(() => untrained), ...completion]
  row.turns.push(turn)
  return row
}

function beginsWith(ids: readonly number[], prefix: readonly number[]): boolean {
  return prefix.length <= ids.length && prefix.every((id, index) => ids[index] === id)
}
