// Episodes in, training rows out: reads the source twice (once to choose and to find leaks, once for the rows), hands each row on as it is made, and reports what became of the rest.
import type { Task } from '../../replay/environment/types.ts'
import { formatNamed, formats } from '../formats/index.ts'
import type { MessageStyle, Row } from '../formats/messages.ts'
import { answerRow, preferenceRow } from '../formats/preference.ts'
import { sftRow } from '../formats/sft.ts'
import { tokenRows } from '../formats/tokens.ts'
import { Duplicates } from './duplicates.ts'
import { pairsOf } from './pairs.ts'
import { judge } from './quality.ts'
import { withReasoningOf } from './reasoning.ts'
import { candidateKey, selectCandidates } from './selection.ts'
import { taskPrompt } from './task-prompt.ts'
import type { Turn } from './threads.ts'
import { countTokens, summariseTokens } from './token-counts.ts'
import type { Candidate, DatasetOptions, DatasetReport, DatasetRow, DatasetSource, DropReason, RowOrigin } from './types.ts'

/**
 * `onRow` is called in order and awaited; it has been called for nothing yet where a leak is found.
 * @throws HomegroundError unknown-format, session-leak, and what the source throws
 */
export async function makeDataset(
  source: DatasetSource,
  options: DatasetOptions,
  onRow: (made: DatasetRow) => Promise<void>,
): Promise<DatasetReport> {
  const { kind, dialect } = formats[formatNamed(options.format)]
  const style: MessageStyle = {
    dialect,
    tools: options.tools ?? 'list',
    reasoning: options.reasoning === undefined || options.reasoning === 'drop' ? 'drop' : 'keep',
  }
  const selection = await selectCandidates(source, options, kind === 'episodes')
  const making = new Making(options, style, onRow)
  for (const { id, reason } of selection.dropped) making.drop(id, reason)
  const chosen = chosenOf(source, selection.chosen, options)
  if (kind === 'episodes') await makeEpisodes(chosen, making)
  else if (kind === 'answers') await makeAnswers(chosen, making)
  else if (kind === 'pairs') await makePairs(chosen, selection.chosenOfTask, making)
  else await makeGroups(chosen, source.tasks(), making)
  return making.report(selection)
}

/** What the makers share: rows go out through it, drops are counted in it. */
class Making {
  readonly style: MessageStyle
  readonly options: DatasetOptions
  invalidArguments = 0
  private readonly onRow: (made: DatasetRow) => Promise<void>
  private readonly duplicates: Duplicates
  private readonly dropped = new Map<DropReason, Set<string>>()
  private readonly tokens: RowOrigin['tokens'][] = []

  constructor(options: DatasetOptions, style: MessageStyle, onRow: (made: DatasetRow) => Promise<void>) {
    this.options = options
    this.style = style
    this.onRow = onRow
    this.duplicates = new Duplicates(options.duplicates)
  }

  drop(id: string, reason: DropReason): void {
    const ids = this.dropped.get(reason)
    if (ids === undefined) this.dropped.set(reason, new Set([id]))
    else ids.add(id)
  }

  async add(id: string, row: Row, turns: readonly Turn[], from: Omit<RowOrigin, 'tokens'>): Promise<void> {
    if (this.duplicates.seen(row)) return this.drop(id, 'duplicate')
    const tokens = countTokens(row, turns)
    this.tokens.push(tokens)
    await this.onRow({ row, from: { ...from, tokens } })
  }

  report(counts: { considered: number; heldOut: number }): DatasetReport {
    return {
      format: this.options.format,
      rows: this.tokens.length,
      considered: counts.considered,
      heldOut: counts.heldOut,
      dropped: Object.fromEntries([...this.dropped].map(([reason, ids]) => [reason, [...ids]])),
      counted: { invalidArguments: this.invalidArguments },
      tokens: summariseTokens(this.tokens),
    }
  }
}

async function* chosenOf(source: DatasetSource, keys: ReadonlySet<string>, { reasoning }: DatasetOptions): AsyncGenerator<Candidate> {
  let place = 0
  for await (const candidate of source.candidates()) {
    if (!keys.has(candidateKey(place++, candidate.episode.id))) continue
    yield typeof reasoning === 'object' ? { ...candidate, episode: withReasoningOf(candidate.episode, reasoning) } : candidate
  }
}

async function makeEpisodes(candidates: AsyncIterable<Candidate>, making: Making): Promise<void> {
  for await (const candidate of candidates) {
    const { threads, reason, invalidArguments } = judge(candidate, making.options)
    if (reason !== undefined) {
      making.drop(candidate.episode.id, reason)
      continue
    }
    making.invalidArguments += invalidArguments
    const rows = threads.map((thread) =>
      making.options.format === 'trl-tokens' ? tokenRows(thread) : [{ row: sftRow(thread, making.style), turns: thread.turns }],
    )
    // Half of an episode's tokens would leave the other half out without a word.
    if (rows.includes(undefined)) making.drop(candidate.episode.id, 'no-tokens')
    else
      for (const { row, turns } of rows.flatMap((each) => each ?? []))
        await making.add(candidate.episode.id, row, turns, originOf([candidate]))
  }
}

/** Good from `minScore` on, by default 0.5. */
async function makeAnswers(candidates: AsyncIterable<Candidate>, making: Making): Promise<void> {
  for await (const candidate of candidates) {
    const { threads, reason } = judge(candidate, making.options)
    const score = candidate.score ?? undefined
    const [thread] = threads
    const fault = reason ?? (score === undefined ? 'no-score' : undefined)
    if (fault !== undefined || thread === undefined || score === undefined) making.drop(candidate.episode.id, fault ?? 'no-assistant-turn')
    else {
      const row = answerRow(thread, score >= (making.options.minScore ?? 0.5), making.style)
      await making.add(candidate.episode.id, row, thread.turns.slice(-1), originOf([candidate]))
    }
  }
}

async function makePairs(candidates: AsyncIterable<Candidate>, counts: ReadonlyMap<string, number>, making: Making): Promise<void> {
  const { margin = 0, pairs = 1 } = making.options
  for await (const [task, attempts] of wholeGroups(candidates, counts)) {
    const scored = attempts.filter(({ score }) => typeof score === 'number')
    const found = pairsOf(scored, { margin, pairs })
    if (found.length === 0) making.drop(task, attempts.length < 2 ? 'single-attempt' : scored.length < 2 ? 'no-score' : 'tie')
    for (const { better, worse, result } of found) {
      if (typeof result === 'string') making.drop(task, result)
      else await making.add(task, preferenceRow(result.pair, making.style), [result.turn], originOf([better, worse]))
    }
  }
}

/** A task's attempts as soon as the last of them was read: only tasks that are not whole yet are held in memory. */
async function* wholeGroups(
  candidates: AsyncIterable<Candidate>,
  counts: ReadonlyMap<string, number>,
): AsyncGenerator<[string, Candidate[]]> {
  const open = new Map<string, Candidate[]>()
  for await (const candidate of candidates) {
    const group = open.get(candidate.task) ?? []
    group.push(candidate)
    if (group.length < (counts.get(candidate.task) ?? 0)) open.set(candidate.task, group)
    else {
      open.delete(candidate.task)
      yield [candidate.task, group]
    }
  }
}

/** Scores of one task that are all the same teach nothing; null scores make no variance. A task that nobody scored, or that was tried once (as it was recorded), is kept. */
async function makeGroups(candidates: AsyncIterable<Candidate>, tasks: AsyncIterable<Task>, making: Making): Promise<void> {
  const attempts = await attemptsByTask(candidates)
  const split = making.options.split ?? 'train'
  for await (const task of tasks) {
    if (task.split !== split) continue
    const group = attempts.get(task.id) ?? []
    const asked = group.filter(({ score }) => score !== undefined)
    const scores = new Set(asked.flatMap(({ score }) => (typeof score === 'number' ? [score] : [])))
    if (asked.length > 0 && scores.size === 0) making.drop(task.id, 'no-score')
    else if (asked.length > 1 && scores.size === 1) making.drop(task.id, 'zero-variance')
    else
      await making.add(task.id, { prompt: taskPrompt(task, making.style), task: task.id }, [], {
        ...originOf(group),
        task: task.id,
        split,
        session: task.session,
      })
  }
}

/** What is left of a candidate without its episode's steps. */
type Attempt = Pick<Candidate, 'task' | 'split' | 'session' | 'arm' | 'repeat' | 'score'> & { episode: { id: string } }

async function attemptsByTask(candidates: AsyncIterable<Candidate>): Promise<Map<string, Attempt[]>> {
  const groups = new Map<string, Attempt[]>()
  for await (const { episode, stopped: _, ...rest } of candidates) {
    const attempt = { ...rest, episode: { id: episode.id } }
    const group = groups.get(attempt.task)
    if (group === undefined) groups.set(attempt.task, [attempt])
    else group.push(attempt)
  }
  return groups
}

function originOf(candidates: readonly Attempt[]): Omit<RowOrigin, 'tokens'> {
  const [first] = candidates
  return {
    task: first?.task ?? '',
    split: first?.split,
    session: first?.session,
    episodes: candidates.map(({ episode, arm, repeat, score }) => ({
      id: episode.id,
      ...(arm === undefined ? {} : { arm }),
      ...(repeat === undefined ? {} : { repeat }),
      ...(score === undefined ? {} : { score }),
    })),
  }
}
