// Episodes in, training rows out: reads the source twice (once to choose and to find leaks, once for the rows), hands each row on as it is made, and reports what became of the rest.
import { messageSchema, parseInput } from '@homeground/sdk/trace'
import { z } from 'zod'
import type { Task } from '../../replay/environment/types.ts'
import { formatNamed, formats } from '../formats/index.ts'
import { type MessageStyle, type Row, rowMessages } from '../formats/messages.ts'
import { answerRow, preferenceRow } from '../formats/preference.ts'
import { sftRow } from '../formats/sft.ts'
import { Duplicates } from './duplicates.ts'
import { chooseSides, pairOf } from './pairs.ts'
import { judge } from './quality.ts'
import { candidateKey, selectCandidates } from './selection.ts'
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
  const style: MessageStyle = { dialect, tools: options.tools ?? 'list', reasoning: options.reasoning ?? 'drop' }
  const selection = await selectCandidates(source, options, kind === 'episodes')
  const making = new Making(options, style, onRow)
  for (const { id, reason } of selection.dropped) making.drop(id, reason)
  const chosen = chosenOf(source, selection.chosen)
  if (kind === 'episodes') await makeEpisodes(chosen, making)
  else if (kind === 'answers') await makeAnswers(chosen, making)
  else if (kind === 'pairs') await makePairs(chosen, making)
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
  private readonly dropped = new Map<DropReason, string[]>()
  private readonly tokens: RowOrigin['tokens'][] = []

  constructor(options: DatasetOptions, style: MessageStyle, onRow: (made: DatasetRow) => Promise<void>) {
    this.options = options
    this.style = style
    this.onRow = onRow
    this.duplicates = new Duplicates(options.duplicates)
  }

  drop(id: string, reason: DropReason): void {
    const ids = this.dropped.get(reason)
    if (ids === undefined) this.dropped.set(reason, [id])
    else if (!ids.includes(id)) ids.push(id)
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
      dropped: Object.fromEntries(this.dropped),
      counted: { invalidArguments: this.invalidArguments },
      tokens: summariseTokens(this.tokens),
    }
  }
}

async function* chosenOf(source: DatasetSource, keys: ReadonlySet<string>): AsyncGenerator<Candidate> {
  let place = 0
  for await (const candidate of source.candidates()) if (keys.has(candidateKey(place++, candidate.episode.id))) yield candidate
}

async function makeEpisodes(candidates: AsyncIterable<Candidate>, making: Making): Promise<void> {
  for await (const candidate of candidates) {
    const { threads, reason, invalidArguments } = judge(candidate, making.options)
    if (reason !== undefined) {
      making.drop(candidate.episode.id, reason)
      continue
    }
    making.invalidArguments += invalidArguments
    for (const thread of threads) await making.add(candidate.episode.id, sftRow(thread, making.style), thread.turns, originOf([candidate]))
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

async function makePairs(candidates: AsyncIterable<Candidate>, making: Making): Promise<void> {
  const { margin = 0, pairs = 1 } = making.options
  for (const [task, attempts] of await byTask(candidates)) {
    const scored = attempts.filter(({ score }) => typeof score === 'number')
    if (scored.length < 2) {
      making.drop(task, 'no-score')
      continue
    }
    const sides = chooseSides(scored, { margin, pairs })
    if (sides.length === 0) making.drop(task, 'tie')
    for (const [better, worse] of sides) {
      const parted = pairOf(better, worse)
      if (typeof parted === 'string') making.drop(task, parted)
      else await making.add(task, preferenceRow(parted.pair, making.style), [parted.turn], originOf([better, worse]))
    }
  }
}

/** Scores of one task that are all the same teach nothing; null scores make no variance. A task that nobody scored is kept. */
async function makeGroups(candidates: AsyncIterable<Candidate>, tasks: AsyncIterable<Task>, making: Making): Promise<void> {
  const attempts = await byTask(candidates)
  const split = making.options.split ?? 'train'
  for await (const task of tasks) {
    if (task.split !== split) continue
    const group = attempts.get(task.id) ?? []
    const asked = group.filter(({ score }) => score !== undefined)
    const scores = new Set(asked.flatMap(({ score }) => (typeof score === 'number' ? [score] : [])))
    if (asked.length > 0 && scores.size === 0) making.drop(task.id, 'no-score')
    else if (asked.length > 0 && scores.size === 1) making.drop(task.id, 'zero-variance')
    else
      await making.add(task.id, { prompt: promptOf(task, making.style), task: task.id }, [], {
        ...originOf(group),
        task: task.id,
        split,
        session: task.session,
      })
  }
}

const messagesSchema = z.array(messageSchema)

/** The messages that are served before the model's first turn; of a task without messages, the agent's input as a user's. */
function promptOf(task: Task, style: MessageStyle): Row[] {
  if (task.messages === undefined)
    return [{ role: 'user', content: typeof task.input === 'string' ? task.input : JSON.stringify(task.input ?? null) }]
  const messages = parseInput(messagesSchema, task.messages, {
    place: `task ${task.id}`,
    what: 'a list of messages',
    code: 'environment-invalid',
  })
  return rowMessages(messages.slice(0, task.turns?.[0] ?? messages.length), style)
}

async function byTask(candidates: AsyncIterable<Candidate>): Promise<Map<string, Candidate[]>> {
  const groups = new Map<string, Candidate[]>()
  for await (const candidate of candidates) {
    const group = groups.get(candidate.task)
    if (group === undefined) groups.set(candidate.task, [candidate])
    else group.push(candidate)
  }
  return groups
}

function originOf(candidates: readonly Candidate[]): Omit<RowOrigin, 'tokens'> {
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
