// A key for one project makes no rows of another: spans that name no project get the key's, spans that name another are refused one by one.
import { type FeedbackRow, homeground, type SpanRow } from '@homeground/sdk/trace'
import { opens } from '../http/guard.ts'
import type { Key } from '../keys/key-file.ts'
import type { Rejection } from './types.ts'

export function ownProject<Row extends Pick<SpanRow, 'project' | 'resource'>>(
  rows: readonly Row[],
  key: Key | undefined,
): { rows: readonly Row[]; rejected: Rejection[] } {
  if (key === undefined || key.project === '*') return { rows, rejected: [] }
  const rejected: Rejection[] = []
  const own = rows.flatMap((row) => {
    // A service name is no claim to a project.
    if (row.resource[homeground.project] === undefined) return [{ ...row, project: key.project }]
    if (opens(key, row.project)) return [row]
    rejected.push({ reason: 'the key is for another project' })
    return []
  })
  return { rows: own, rejected }
}

/** An evaluation event's feedback goes to the key's project, whatever service says it. */
export function ownFeedback(row: FeedbackRow, key: Key | undefined): FeedbackRow {
  return key === undefined || key.project === '*' ? row : { ...row, project: key.project }
}
