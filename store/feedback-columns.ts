// Feedback rows as ClickHouse has them.
import type { FeedbackRow } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { RowBinaryWriter } from './row-binary.ts'
import type { ReceivedFeedbackRow } from './types.ts'

const types = { number: 1, boolean: 2, string: 3 } as const

export const insertFeedbackStatement =
  'INSERT INTO feedback (project, trace_id, step_id, name, source, received_at, value_type, value_number, value_text, comment, at) FORMAT RowBinary'

export const selectFeedbackColumns =
  'project, trace_id, step_id, name, source, value_type, value_number, value_text, comment, toUnixTimestamp64Milli(at) AS at_ms'

/** `received`: microseconds since the epoch, the row's version. */
export function writeFeedbackRow(to: RowBinaryWriter, row: ReceivedFeedbackRow, received: bigint): void {
  const value = row.value
  to.string(row.project)
  to.string(row.traceId)
  to.string(row.stepId)
  to.string(row.name)
  to.string(row.source)
  to.int64(row.receivedAt ?? received)
  to.byte(typeof value === 'number' ? types.number : typeof value === 'boolean' ? types.boolean : types.string)
  to.float64(typeof value === 'string' ? 0 : Number(value))
  to.string(typeof value === 'string' ? value : '')
  to.string(row.comment)
  to.int64(BigInt(Date.parse(row.at)))
}

const feedbackSchema = z.object({
  project: z.string(),
  trace_id: z.string(),
  step_id: z.string(),
  name: z.string(),
  source: z.string(),
  value_type: z.enum(['number', 'boolean', 'string']),
  value_number: z.number(),
  value_text: z.string(),
  comment: z.string(),
  at_ms: z.string(),
})

/** One object of a JSONEachRow answer. */
export function readFeedbackRow(value: unknown): FeedbackRow {
  const row = feedbackSchema.parse(value)
  return {
    project: row.project,
    traceId: row.trace_id,
    stepId: row.step_id,
    name: row.name,
    value: row.value_type === 'string' ? row.value_text : row.value_type === 'boolean' ? row.value_number !== 0 : row.value_number,
    comment: row.comment,
    source: row.source,
    at: new Date(Number(row.at_ms)).toISOString(),
  }
}
