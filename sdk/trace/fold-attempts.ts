// A span is an HTTP attempt; the episode has one call: consecutive attempts with equal bodies under one parent are folded.
import type { SpanRow } from './row.ts'

/** The attempts of one call, first to last. */
export type Attempts = [SpanRow, ...SpanRow[]]

/** `calls` are model rows in order of start. An attempt whose earlier ones are missing stands alone. */
export function foldAttempts(calls: readonly SpanRow[]): Attempts[] {
  const folded: Attempts[] = []
  // Equal calls may run side by side: each later attempt goes on from one that has none yet.
  const open = new Map<string, Attempts[]>()
  for (const row of calls) {
    const waiting = open.get(keyOf(row, row.attempt - 1))
    const earlier = row.attempt > 1 ? waiting?.shift() : undefined
    const attempts: Attempts = earlier ?? [row]
    if (earlier === undefined) folded.push(attempts)
    else attempts.push(row)
    const key = keyOf(row, row.attempt)
    const others = open.get(key)
    if (others === undefined) open.set(key, [attempts])
    else others.push(attempts)
  }
  return folded
}

function keyOf(row: SpanRow, attempt: number): string {
  // Bodies are long: joined, not written as JSON again. Neither an id nor an API's name holds a line end.
  return `${row.parentSpanId}\n${attempt}\n${row.api}\n${row.requestBody}`
}
