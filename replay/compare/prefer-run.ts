// Two arms of a run by a judge that is shown both episodes of a task at once, in both orders: who is preferred how often, with an interval over sessions. No verdict of a run rests on it.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import { Bill, type Billed } from '../rubric/bill.ts'
import type { Prices } from '../rubric/cost.ts'
import type { JudgeDeps } from '../rubric/judge/endpoint.ts'
import { type Preference, type PreferenceQuestion, prefer } from '../rubric/judge/preference.ts'
import { spread } from '../rubric/spread.ts'
import { Budget } from '../run/budget.ts'
import { Others, type OthersEstimate } from '../run/estimate-others.ts'
import type { Rollout, Run } from '../run/types.ts'
import { clusteredMean, interval } from './clustered-mean.ts'
import { signTest } from './sign-test.ts'

export interface PreferRunOptions {
  baseline: string
  candidate: string
  question: PreferenceQuestion
  /** Pairs asked about at once. @default 4 */
  concurrency?: number
  /** So many pairs at most, spread over the run. @default all */
  limit?: number
  prices: Prices
  /** US dollars of the judge's answers at which no further pair is begun. @default no limit */
  maxCostUsd?: number
  /** Shown before the judge is asked. */
  onEstimate?(estimate: PreferenceEstimate): void
  /** A verdict that the judge gave earlier: it is not asked again. */
  earlier?(pair: { task: string; repeat: number }): JudgedPair | undefined
  /** Told of each pair that the judge was asked about, and waited for. */
  onPreference?(pair: JudgedPair): unknown
}

export interface JudgedPair extends Preference {
  task: string
  session: string
  repeat: number
  /** What the judge took; absent where it did not answer. */
  judges?: Billed
}

/** Before anybody is asked. */
export interface PreferenceEstimate {
  pairs: number
  /** From the length of what the judge would be shown. */
  judges: OthersEstimate
}

export interface Preferences {
  baseline: string
  candidate: string
  /** Pairs asked about, now or earlier. */
  pairs: number
  /** How many of them earlier; absent for none. */
  earlier?: number
  /** Set where pairs are left, since the budget is spent. */
  stopped?: 'max-cost'
  /** What the judge took; absent where it did not answer. */
  judges?: Billed
  wins: number
  losses: number
  ties: number
  /** Ties that the order of the two decided. */
  byOrder: number
  /** Pairs without an answer that reads as one: they are in no number above. */
  withoutVerdict: number
  /** Mean of 1, 0.5 and 0 over pairs, with a 95 % interval clustered by session; null where nothing was judged. 0.5: neither is preferred. */
  share: { mean: number; low: number; high: number; sessions: number } | null
  /** Exact, over sessions: those in which the candidate won more pairs than it lost. */
  signTest: { wins: number; losses: number; p: number }
}

/** @throws HomegroundError not-found: an arm or a pair is not there; invalid-settings: there is a limit, and no price of the judge or no count of its tokens */
export async function preferRun(run: Run, options: PreferRunOptions, deps: JudgeDeps): Promise<Preferences> {
  const { baseline, candidate, question, prices } = options
  const budget = new Budget(options.maxCostUsd, { arms: [], others: [question.model] }, prices)
  const { judged, unasked } = await sortedOut(run, options)
  const earlier = judged.length
  options.onEstimate?.(estimated(unasked, question, prices))
  const all = new Bill(prices)
  const queue = unasked.values()
  let failed = false
  const work = async (): Promise<void> => {
    while (!failed && !budget.isSpent) {
      const next = queue.next()
      if (next.done === true) return
      const { from, to } = next.value
      const bill = new Bill(prices)
      const onAnswer: JudgeDeps['onAnswer'] = (model, usage) => {
        bill.add(model, usage)
        all.add(model, usage)
      }
      const preference = await prefer(question, { baseline: from.episode, candidate: to.episode }, { ...deps, onAnswer })
      const judges = bill.total()
      const { task, session, repeat } = to.rollout
      const pair = { task, session, repeat, ...preference, ...(judges && { judges }) }
      judged.push(pair)
      await options.onPreference?.(pair)
      budget.countJudges(judges)
    }
  }
  const stopAll = (error: unknown): never => {
    failed = true
    throw error
  }
  await Promise.all(Array.from({ length: options.concurrency ?? 4 }, () => work().catch(stopAll)))
  const judges = all.total()
  return {
    baseline,
    candidate,
    pairs: judged.length,
    ...(earlier > 0 && { earlier }),
    ...(judged.length - earlier < unasked.length && { stopped: 'max-cost' as const }),
    ...(judges && { judges }),
    ...summed(judged),
  }
}

/** The pairs of which there is a verdict, and the others. */
async function sortedOut(run: Run, options: PairChoice): Promise<{ judged: JudgedPair[]; unasked: Pair[] }> {
  const judged: JudgedPair[] = []
  const unasked: Pair[] = []
  for (const pair of await pairsOf(run, options)) {
    const verdict = options.earlier?.(pair.to.rollout)
    if (verdict === undefined) unasked.push(pair)
    else judged.push(verdict)
  }
  return { judged, unasked }
}

type PairChoice = Pick<PreferRunOptions, 'baseline' | 'candidate' | 'limit' | 'earlier'>

/** What it would take. @throws HomegroundError not-found: an arm or a pair is not there */
export async function estimatePreferences(
  run: Run,
  options: PairChoice & Pick<PreferRunOptions, 'question' | 'prices'>,
): Promise<PreferenceEstimate> {
  return estimated((await sortedOut(run, options)).unasked, options.question, options.prices)
}

function estimated(pairs: readonly Pair[], question: PreferenceQuestion, prices: Prices): PreferenceEstimate {
  const others = new Others(prices)
  for (const { from, to } of pairs) others.addPreference(question, from.episode, to.episode)
  return { pairs: pairs.length, judges: others.estimate(1) ?? { calls: 0, inputTokens: 0, outputTokens: 0 } }
}

interface Side {
  rollout: Rollout
  episode: Episode
}

interface Pair {
  from: Side
  to: Side
}

/** Tries of one task and repeat by both arms; those that broke off for reasons that are not the arm's are left out. */
async function pairsOf(run: Run, { baseline, candidate, limit }: PairChoice): Promise<Pair[]> {
  for (const name of [baseline, candidate])
    if (!run.file.arms.some((arm) => arm.name === name))
      throw new HomegroundError('not-found', `the run has no arm ${name}`, {
        hint: `its arms are ${run.file.arms.map((arm) => arm.name).join(', ')}`,
      })
  const rollouts = new Map<string, { from?: Rollout; to?: Rollout }>()
  for await (const rollout of run.rollouts()) {
    if (rollout.error !== undefined || (rollout.arm !== baseline && rollout.arm !== candidate)) continue
    const key = `${rollout.task}\n${rollout.repeat}`
    rollouts.set(key, { ...rollouts.get(key), ...(rollout.arm === baseline ? { from: rollout } : { to: rollout }) })
  }
  const whole = [...rollouts.values()].flatMap(({ from, to }) => (from === undefined || to === undefined ? [] : [{ from, to }]))
  const chosen = spread(whole, limit ?? whole.length)
  const wanted = new Set(chosen.flatMap(({ from, to }) => [from.episode, to.episode]))
  const episodes = new Map<string, Episode>()
  for await (const episode of run.episodes()) if (wanted.has(episode.id)) episodes.set(episode.id, episode)
  const pairs = chosen.flatMap(({ from, to }) => {
    const [first, second] = [episodes.get(from.episode), episodes.get(to.episode)]
    return first && second ? [{ from: { rollout: from, episode: first }, to: { rollout: to, episode: second } }] : []
  })
  if (pairs.length > 0) return pairs
  throw new HomegroundError('not-found', `no task of the run was played to its end by both ${baseline} and ${candidate}`, {
    hint: 'homeground run goes on with an unfinished run',
  })
}

function summed(judged: readonly JudgedPair[]): Omit<Preferences, 'baseline' | 'candidate' | 'pairs' | 'earlier' | 'stopped' | 'judges'> {
  const given = judged.flatMap(({ value, session }) => (value === null ? [] : [{ value, session }]))
  const numbers = new Map<string, number>()
  const sessionOf = given.map(({ session }) => {
    const number = numbers.get(session) ?? numbers.size
    numbers.set(session, number)
    return number
  })
  const estimate = clusteredMean(
    given.map(({ value }) => value),
    sessionOf,
  )
  const { low, high } = interval(estimate, 0.95)
  const balance = new Array<number>(numbers.size).fill(0)
  for (const [at, { value }] of given.entries()) {
    const session = sessionOf[at] ?? 0
    balance[session] = (balance[session] ?? 0) + value - 0.5
  }
  const [wins, losses] = [balance.filter((sum) => sum > 0).length, balance.filter((sum) => sum < 0).length]
  return {
    wins: given.filter(({ value }) => value === 1).length,
    losses: given.filter(({ value }) => value === 0).length,
    ties: given.filter(({ value }) => value === 0.5).length,
    byOrder: judged.filter(({ byOrder }) => byOrder).length,
    withoutVerdict: judged.length - given.length,
    share: given.length === 0 ? null : { mean: estimate.mean, low: Math.max(0, low), high: Math.min(1, high), sessions: numbers.size },
    signTest: { wins, losses, p: signTest(wins, losses) },
  }
}
