// A key for one project makes no rows of another: what names no project gets the key's, what names another is refused one by one.
import { type FeedbackRow, homeground, type SpanRow } from '@homeground/sdk/trace'
import { opens } from '../http/guard.ts'
import type { Key } from '../keys/key-file.ts'
import type { EventFeedback } from './evaluation-feedback.ts'
import type { Rejection } from './types.ts'

export function ownProject<Row extends Pick<SpanRow, 'project' | 'resource'>>(
  rows: readonly Row[],
  key: Key | undefined,
): { rows: readonly Row[]; rejected: Rejection[] } {
  return sort(
    rows,
    key,
    (row) => row,
    ({ resource }) => resource,
  )
}

/** Evaluation events' feedback. */
export function ownFeedback(
  feedback: readonly EventFeedback[],
  key: Key | undefined,
): { rows: readonly FeedbackRow[]; rejected: Rejection[] } {
  return sort(
    feedback,
    key,
    ({ row }) => row,
    ({ resource }) => resource,
  )
}

function sort<Given, Row extends { project: string }>(
  given: readonly Given[],
  key: Key | undefined,
  rowOf: (given: Given) => Row,
  resourceOf: (given: Given) => Readonly<Record<string, unknown>>,
): { rows: readonly Row[]; rejected: Rejection[] } {
  if (key === undefined || key.project === '*') return { rows: given.map(rowOf), rejected: [] }
  const rejected: Rejection[] = []
  const rows = given.flatMap((one) => {
    const row = rowOf(one)
    const claimed = resourceOf(one)[homeground.project]
    // A service name is no claim to a project.
    if (claimed === undefined || claimed === '') return [{ ...row, project: key.project }]
    if (opens(key, row.project)) return [row]
    rejected.push({ reason: 'the key is for another project' })
    return []
  })
  return { rows, rejected }
}
