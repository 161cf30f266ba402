// How long rows are in tokens: as the provider counted them, else estimated from the text (four characters a token), and said so.
import type { Row } from '../formats/messages.ts'
import type { Turn } from './threads.ts'
import type { DatasetReport, RowOrigin } from './types.ts'

const charactersAToken = 4

/** `turns` are those that the row trains, in order. */
export function countTokens(row: Row, turns: readonly Turn[]): RowOrigin['tokens'] {
  const { labels } = row
  if (Array.isArray(labels)) return { count: labels.length, exact: true, trained: labels.filter((label) => label !== -100).length }
  const last = turns.at(-1)?.call.response?.usage
  const outputs = turns.map(({ call }) => call.response?.usage.outputTokens)
  if (last?.inputTokens !== undefined && outputs.every((count) => count !== undefined)) {
    const trained = outputs.reduce((sum, count) => sum + count, 0)
    return { count: last.inputTokens + (last.outputTokens ?? 0), exact: true, trained }
  }
  const trained = turns.reduce((sum, { output }) => sum + JSON.stringify(output.parts).length, 0)
  return { count: estimated(JSON.stringify(row).length), exact: false, trained: estimated(trained) }
}

export function summariseTokens(rows: readonly RowOrigin['tokens'][]): DatasetReport['tokens'] {
  const counts = rows.map(({ count }) => count).sort((a, b) => a - b)
  const at = (share: number) => counts[Math.max(0, Math.ceil(share * counts.length) - 1)] ?? 0
  const all = counts.reduce((sum, count) => sum + count, 0)
  const trained = rows.reduce((sum, row) => sum + row.trained, 0)
  const exact = rows.filter((row) => row.exact).length
  return {
    p50: at(0.5),
    p95: at(0.95),
    max: counts.at(-1) ?? 0,
    exactShare: rows.length === 0 ? 0 : exact / rows.length,
    trainedShare: all === 0 ? 0 : Math.min(1, trained / all),
  }
}

function estimated(characters: number): number {
  return Math.ceil(characters / charactersAToken)
}
