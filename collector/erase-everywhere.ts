// Forgetting somebody in every place that holds spans: the store, the dead letters, the spools of products. What one place alone knows of a trace, whose it is, holds for all.

import type { ClaimedSpool, SpooledSpan } from '@homeground/sdk/spool'
import { normaliseSpan, type SpanRow } from '@homeground/sdk/trace'
import type { Erasure, ErasureResult, Store } from '../store/index.ts'
import { decodeProtobufTraces } from './ingest/traces-protobuf.ts'
import type { DeadLetterBox } from './queue/kafka/index.ts'

export interface Places {
  store: Pick<Store, 'erasable' | 'erase'>
  letters: Pick<DeadLetterBox, 'about' | 'drop'> | undefined
  spools: readonly Pick<ClaimedSpool, 'spans' | 'remove'>[]
}

/** What is held of somebody. */
export interface Holdings extends ErasureResult {
  /** Dead letters. */
  letters: { id: string; names: boolean }[]
  /** Spans that wait in spools. */
  spooled: number
  /** Traces that only a letter or a spool says are theirs. */
  otherwise: string[]
}

export type Subject = Omit<Erasure, 'traces'>

/** Looks everywhere; changes nothing. */
export async function findEverywhere({ store, letters, spools }: Places, subject: Subject): Promise<Holdings> {
  const { trace, ...who } = subject
  const found = await store.erasable(subject)
  const traces = new Set([...found.traces, ...(trace === undefined ? [] : [trace.toLowerCase()])])
  for (const spool of spools)
    for await (const span of spool.spans()) for (const row of rowsIn(span)) if (isOf(row, subject)) traces.add(row.traceId)
  const about = (await letters?.about({ ...who, traces: [...traces] })) ?? []
  for (const letter of about) traces.add(letter.trace)
  let spooled = 0
  for (const spool of spools)
    for await (const span of spool.spans()) if (span.waits && isAmong(span, { project: subject.project, traces })) spooled += 1
  const known = new Set(found.traces)
  const otherwise = [...traces].filter((one) => !known.has(one))
  const more = otherwise.length === 0 ? undefined : await store.erasable({ project: subject.project, traces: otherwise })
  const environments = new Map([...found.environments, ...(more?.environments ?? [])].map((one) => [`${one.hash} ${one.folder}`, one]))
  return {
    traces: [...found.traces, ...(more?.traces ?? [])],
    spans: found.spans + (more?.spans ?? 0),
    feedback: found.feedback + (more?.feedback ?? 0),
    environments: [...environments.values()],
    letters: about.map(({ id, names }) => ({ id, names })),
    spooled,
    otherwise,
  }
}

/**
 * Takes it all away. What does not say itself whose it is goes first: an erasure that was broken off finds the rest when it is given again.
 * @returns spans that waited in spools
 */
export async function eraseEverywhere({ store, letters, spools }: Places, subject: Subject, found: Holdings): Promise<number> {
  const theirs = { project: subject.project, traces: new Set([...found.traces, ...found.otherwise]) }
  let spooled = 0
  for (const spool of spools)
    spooled += await spool.remove((span) => isAmong(span, theirs) && !rowsIn(span).some((row) => isOf(row, subject)))
  await dropLetters(
    letters,
    found.letters.filter(({ names }) => !names),
  )
  if (found.otherwise.length > 0) await store.erase({ project: subject.project, traces: found.otherwise })
  await store.erase(subject)
  await dropLetters(
    letters,
    found.letters.filter(({ names }) => names),
  )
  for (const spool of spools) spooled += await spool.remove((span) => isAmong(span, theirs))
  return spooled
}

async function dropLetters(box: Places['letters'], letters: Holdings['letters']): Promise<void> {
  if (letters.length > 0) await box?.drop(letters.map(({ id }) => id))
}

function isAmong(span: SpooledSpan, theirs: { project: string; traces: ReadonlySet<string> }): boolean {
  return rowsIn(span).some((row) => row.project === theirs.project && theirs.traces.has(row.traceId))
}

function isOf(row: SpanRow, { project, user, session, trace }: Subject): boolean {
  if (row.project !== project) return false
  if (user !== undefined) return row.user === user
  return session !== undefined ? row.session === session : row.traceId === trace?.toLowerCase()
}

/** The row that the span would become; none where the collector would refuse it. */
function rowsIn({ request }: SpooledSpan): SpanRow[] {
  try {
    return decodeProtobufTraces(request).spans.map(normaliseSpan)
  } catch {
    return []
  }
}
