// A canary's traffic: two samples, clustered by session.
import type { Episode } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { type Comparison, compare, episodesSource, scoreByFeedback } from '../../../replay/compare/index.ts'
import { seededRandom } from '../../../replay/compare/seeded-random.ts'
import { sampleEpisode } from '../rubric/sample.ts'

interface Live {
  session: string
  arm: string
  helpful?: number
}

function episodeOf({ session, arm, helpful }: Live, number: number): Episode {
  return sampleEpisode({
    id: String(number).padStart(32, '0'),
    session,
    tags: { 'variant.model': arm },
    ...(helpful !== undefined && { feedback: [{ name: 'helpful', value: helpful, at: '2026-01-01T00:00:00.000Z', source: 'user' }] }),
  })
}

function compareLive(live: readonly Live[]): Promise<Comparison> {
  const episodes = live.map(episodeOf)
  return compare(
    episodesSource({
      title: 'canary',
      by: 'tags.variant.model',
      arms: ['old', 'new'].map((name) => ({ name, values: [name] })),
      design: 'two-sample',
      episodes: async function* () {
        yield* episodes
      },
      score: scoreByFeedback('helpful'),
      costUsd: () => 0.01,
    }),
  )
}

/** Sessions of three episodes, helpful with the arm's chance; a session's own luck moves all three. */
function traffic(sessions: number, chance: Readonly<Record<string, number>>, seed: number): Live[] {
  const random = seededRandom(seed)
  return Array.from({ length: sessions }, (_, at) => {
    const arm = at % 2 === 0 ? 'old' : 'new'
    const luck = (random() - 0.5) * 0.3
    return Array.from({ length: 3 }, () => ({
      session: `s${at}`,
      arm,
      helpful: random() < (chance[arm] ?? 0) + luck ? 1 : 0,
    }))
  }).flat()
}

describe('compare --live', () => {
  test('finds the better arm, and says that the samples are not paired', async () => {
    const { pairs, notes, arms } = await compareLive(traffic(120, { old: 0.4, new: 0.7 }, 7))
    expect(pairs[0]).toMatchObject({
      design: 'two-sample',
      verdict: { word: 'better', reason: 'interval' },
      primary: { tasks: 360, sessions: 120, fewestSessions: 60, method: 't' },
      tasks: [],
    })
    expect(pairs[0]?.sentence).toMatch(
      /^new is better than old: \+0\.\d+ .*, 360 rated episodes in 120 sessions, each of one arm: two samples, unpaired\.$/,
    )
    expect(notes.join('\n')).toMatch(/two samples: no episode of one arm has a counterpart/)
    expect(arms.map(({ outcomes }) => outcomes)).toEqual([180, 180])
  })

  test('of 400 A/A experiments about 5 % find a difference', async () => {
    let found = 0
    for (let seed = 1; seed <= 400; seed++) {
      const { pairs } = await compareLive(traffic(30, { old: 0.5, new: 0.5 }, seed))
      if (pairs[0]?.verdict.word === 'better' || pairs[0]?.verdict.word === 'worse') found += 1
    }
    // The seeds are fixed: so is the count. A clustering that is ignored gives over 10 %.
    expect(found / 400).toBeGreaterThan(0.02)
    expect(found / 400).toBeLessThan(0.08)
  })

  test('a session that saw both arms is left out and counted', async () => {
    const { pairs, notes } = await compareLive([
      ...traffic(40, { old: 0.4, new: 0.6 }, 3),
      { session: 'moved', arm: 'old', helpful: 1 },
      { session: 'moved', arm: 'new', helpful: 1 },
    ])
    expect(pairs[0]?.primary).toMatchObject({ tasks: 120, sessions: 40 })
    expect(notes.join('\n')).toMatch(/1 sessions saw both old and new/)
  })

  test('fewer than six sessions of one arm are too few, however many the other has', async () => {
    const many = traffic(40, { old: 0.1, new: 0.9 }, 5).filter(({ arm, session }) => arm === 'old' || Number(session.slice(1)) < 10)
    const { pairs } = await compareLive(many)
    expect(pairs[0]?.primary.fewestSessions).toBe(5)
    expect(pairs[0]?.verdict).toEqual({ word: 'inconclusive', reason: 'too-few-sessions' })
    expect(pairs[0]?.sentence).toBe('new against old is inconclusive: 5 sessions of an arm are fewer than 6.')
  })

  test('episodes without the feedback are left out; where one arm is rated less often, nothing is concluded', async () => {
    const all = traffic(200, { old: 0.4, new: 0.7 }, 11)
    const evenly = await compareLive(all.map(({ helpful, ...rest }, at) => (at % 5 < 2 ? { ...rest, helpful: helpful ?? 0 } : rest)))
    expect(evenly.pairs[0]?.verdict).toEqual({ word: 'better', reason: 'interval' })
    expect(evenly.notes.join('\n')).toMatch(/40\.0 % of old, 40\.0 % of new/)
    const happyOnly = await compareLive(
      all.map(({ helpful, ...rest }) => (rest.arm === 'old' || helpful === 1 ? { ...rest, helpful: helpful ?? 0 } : rest)),
    )
    expect(happyOnly.pairs[0]?.verdict).toEqual({ word: 'inconclusive', reason: 'coverage' })
  })

  test('where nothing varies within an arm the exact permutation test decides', async () => {
    const constant = (sessions: number, values: Readonly<Record<string, number>>): Live[] =>
      Array.from({ length: sessions }, (_, at) => {
        const arm = at % 2 === 0 ? 'old' : 'new'
        return { session: `s${at}`, arm, helpful: values[arm] ?? 0 }
      })
    const apart = await compareLive(constant(12, { old: 0, new: 1 }))
    expect(apart.pairs[0]?.verdict).toEqual({ word: 'better', reason: 'permutation-test' })
    expect(apart.pairs[0]?.primary.p).toBeCloseTo(2 / 924, 12)
    const alike = await compareLive(constant(12, { old: 1, new: 1 }))
    expect(alike.pairs[0]?.verdict).toEqual({ word: 'equivalent', reason: 'identical' })
  })
})
