import type { Episode } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { type SelectionSettings, selectEpisodes } from '../../../replay/environment/select.ts'
import { stratumOf } from '../../../replay/environment/strata.ts'
import { airlineEpisodes, calls, episodeOf, result, text, toolSpan } from '../support/episodes.ts'

async function selected(episodes: readonly Episode[], settings: SelectionSettings) {
  let reads = 0
  const { selection, episodes: kept } = await selectEpisodes(async function* () {
    reads += 1
    yield* episodes
  }, settings)
  const ids: string[] = []
  for await (const episode of kept) ids.push(episode.id)
  expect(reads).toBe(2)
  return { selection, ids }
}

const asked = (name: string, question: string, more: Partial<Episode> = {}): Episode =>
  episodeOf(name, [text('system', 'You are the desk of a shop.'), text('user', question), text('assistant', 'ok')], more)

const plans = (count: number, plan: string): Episode[] =>
  Array.from({ length: count }, (_, number) => asked(`${plan} ${number}`, `question ${number} of ${plan}`, { tags: { plan } }))

const long = 'where is the parcel that I ordered from you three weeks ago please, it was to be here by now and my sister waits for it too'

describe('selectEpisodes', () => {
  test('leaves out what begins like an earlier episode, whatever the system prompt and the rest say, and counts it', async () => {
    const twin = episodeOf('twin', [text('system', 'Other.'), text('user', `${long.toUpperCase()}!`), text('assistant', 'no')])
    const episodes = [asked('a', long), twin, asked('b', 'may I return a lamp that does not shine?'), asked('c', `${long} as well`)]
    const { selection, ids } = await selected(episodes, { dedupe: 0.8 })
    expect(ids).toEqual([episodes[0]?.id, episodes[2]?.id])
    expect(selection).toEqual({
      settings: { dedupe: 0.8 },
      seen: 4,
      nearDuplicates: 2,
      kept: 2,
      strata: [{ name: 'all', seen: 2, kept: 2 }],
    })
  })

  test('takes as many of each stratum as there are, the small ones whole, in the order of the data', async () => {
    const episodes = [...plans(30, 'free'), ...plans(3, 'pro'), ...plans(20, 'team')]
    const { selection, ids } = await selected(episodes, { sample: 14, stratify: ['tags.plan'] })
    expect(selection.strata).toEqual([
      { name: 'tags.plan=free', seen: 30, kept: 6 },
      { name: 'tags.plan=pro', seen: 3, kept: 3 },
      { name: 'tags.plan=team', seen: 20, kept: 5 },
    ])
    expect(ids).toEqual(episodes.map(({ id }) => id).filter((id) => ids.includes(id)))
    expect(ids.length).toBe(14)
    const more = await selected([...episodes, ...plans(40, 'other')], { sample: 19, stratify: ['tags.plan'] })
    expect(more.selection.strata.map(({ kept }) => kept)).toEqual([6, 5, 3, 5])
    // What stays in a stratum of the same share is the same.
    expect(ids.every((id) => more.ids.includes(id))).toBe(true)
  })

  test('takes a session whole', async () => {
    const episodes = ['a', 'b', 'c', 'd'].flatMap((session) =>
      [1, 2, 3].map((turn) => asked(`${session} ${turn}`, `turn ${turn} in ${session} about things`, { session })),
    )
    const { selection, ids } = await selected(episodes, { sample: 2, by: 'session' })
    expect(selection).toMatchObject({ seen: 4, kept: 2 })
    const kept = episodes.filter(({ id }) => ids.includes(id))
    expect(kept.length).toBe(6)
    expect(new Set(kept.map(({ session }) => session)).size).toBe(2)
  })

  test('gives everything where there is less than asked for, and the same on the real episodes twice', async () => {
    expect((await selected(plans(3, 'free'), { sample: 10 })).ids.length).toBe(3)
    const settings = { dedupe: 0.9, sample: 40, stratify: ['outcome', 'model'] }
    const [first, second] = [await selected(airlineEpisodes(), settings), await selected(airlineEpisodes(), settings)]
    expect(second).toEqual(first)
    expect(first.ids.length).toBe(40)
    expect(first.selection.strata.map(({ name }) => name)).toEqual(['outcome=bad, model=gpt-4o', 'outcome=good, model=gpt-4o'])
  })
})

describe('stratumOf', () => {
  const at = '2026-01-05T10:00:00.000Z'
  const said = (name: string, value: number | boolean | string) => ({ name, value, source: 'human', at })
  const episode = episodeOf(
    'x',
    [text('user', 'hi'), calls({ id: 'c', name: 'b', arguments: {} }), result('c', 'x'), text('assistant', 'y')],
    {
      tools: [toolSpan('b', {}, 7), toolSpan('a', {}, 8), toolSpan('b', {}, 9)],
      tags: { plan: 'pro' },
      agent: { name: 'desk' },
      feedback: [said('expected_output', 'y'), said('stars', 4), said('thumbs', true)],
    },
  )

  test.each([
    ['tags.plan', 'pro'],
    ['tags.other', 'none'],
    ['feedback.stars', '4'],
    ['outcome', 'good'],
    ['tool', 'a+b'],
    ['model', 'gpt-4o'],
    ['agent', 'desk'],
  ])('tells episodes apart by %s', (name, value) => {
    expect(stratumOf(name)(episode)).toBe(value)
  })

  test.each([
    [{ error: { type: 'TypeError', message: 'x' } }, 'error'],
    [{ feedback: [said('reward', 0)] }, 'bad'],
    [{ feedback: [said('thumbs', false), said('score', 0.7)] }, 'good'],
    [{ feedback: [said('expected_output', 'y'), said('stars', 4)] }, 'unknown'],
  ])('says of %j that it went %s', (more, outcome) => {
    const { error: _, ...rest } = episode
    expect(stratumOf('outcome')({ ...rest, ...more })).toBe(outcome)
  })

  test('names the kinds that there are where it is asked for another', () => {
    expect(() => stratumOf('colour')).toThrow(
      expect.objectContaining({ code: 'invalid-argument', hint: expect.stringContaining('tags.NAME') }),
    )
  })
})
