// Two arms of a run by a judge that is shown both episodes of a task at once, in both orders: who is preferred how often, with an interval over sessions. No verdict of a run rests on it.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { JudgeDeps } from '../rubric/judge/endpoint.ts'
import { type Preference, type PreferenceQuestion, prefer } from '../rubric/judge/preference.ts'
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
  onPreference?(pair: JudgedPair): void
}

export interface JudgedPair extends Preference {
  task: string
  session: string
  repeat: number
}

export interface Preferences {
  baseline: string
  candidate: string
  /** Pairs asked about. */
  pairs: number
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

/** @throws HomegroundError not-found: an arm or a pair is not there */
export async function preferRun(run: Run, options: PreferRunOptions, deps: JudgeDeps): Promise<Preferences> {
  const { baseline, candidate } = options
  const pairs = await pairsOf(run, options)
  const judged: JudgedPair[] = []
  const queue = pairs.values()
  const work = async (): Promise<void> => {
    for (const { from, to } of queue) {
      const preference = await prefer(options.question, { baseline: from.episode, candidate: to.episode }, deps)
      const pair = { task: to.rollout.task, session: to.rollout.session, repeat: to.rollout.repeat, ...preference }
      judged.push(pair)
      options.onPreference?.(pair)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency ?? 4 }, work))
  return { baseline, candidate, pairs: pairs.length, ...summed(judged) }
}

interface Side {
  rollout: Rollout
  episode: Episode
}

/** Tries of one task and repeat by both arms; those that broke off for reasons that are not the arm's are left out. */
async function pairsOf(run: Run, { baseline, candidate, limit }: PreferRunOptions): Promise<{ from: Side; to: Side }[]> {
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
  const every = Math.max(1, whole.length / (limit ?? whole.length))
  const chosen = whole.filter((_, at) => Math.floor(at / every) !== Math.floor((at - 1) / every))
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

function summed(judged: readonly JudgedPair[]): Omit<Preferences, 'baseline' | 'candidate' | 'pairs'> {
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
