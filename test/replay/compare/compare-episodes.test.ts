import type { Episode } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { compare, episodesSource, fieldValues, scoreByFeedback } from '../../../replay/compare/index.ts'
import { sampleEpisode } from '../rubric/sample.ts'
import { tauBenchEpisodes } from '../rubric/tau-bench.ts'

async function* stream(episodes: readonly Episode[]): AsyncIterable<Episode> {
  yield* episodes
}

const real = (await tauBenchEpisodes()).map(({ episode }) => episode)

describe('recorded episodes as arms', () => {
  test.each([
    [
      ['0', '1'],
      ['2', '3'],
    ],
    [
      ['0', '2'],
      ['1', '3'],
    ],
    [
      ['0', '3'],
      ['1', '2'],
    ],
  ])('A/A: trials %j of the real episodes against %j are neither better nor worse', async (a, b) => {
    const source = episodesSource({
      title: 'tau-bench',
      by: 'source.repeat',
      arms: [
        { name: 'a', values: a },
        { name: 'b', values: b },
      ],
      episodes: () => stream(real),
      score: scoreByFeedback('reward'),
      costUsd: () => undefined,
    })
    const { pairs, arms } = await compare(source)
    expect(pairs[0]?.primary).toMatchObject({ tasks: 50, sessions: 50 })
    expect(arms.map(({ outcomes }) => outcomes)).toEqual([100, 100])
    expect(['equivalent', 'inconclusive']).toContain(pairs[0]?.verdict.word)
  })

  test('arms may be made of tags, and an episode without the tag belongs to none', async () => {
    const tagged = [
      sampleEpisode({ id: '1', session: 's', tags: { canary: 'yes' } }),
      sampleEpisode({ id: '2', session: 's', tags: { canary: 'no' } }),
      sampleEpisode({ id: '3', session: 's' }),
    ]
    expect(await fieldValues(stream(tagged), 'tags.canary')).toEqual(
      new Map([
        ['yes', 1],
        ['no', 1],
      ]),
    )
  })

  test('a field that episodes do not have is refused, and one without the values lists those there are', async () => {
    await expect(fieldValues(stream(real), 'weather')).rejects.toMatchObject({ code: 'invalid-argument' })
    const source = episodesSource({
      title: 't',
      by: 'source.repeat',
      arms: [
        { name: 'a', values: ['8'] },
        { name: 'b', values: ['9'] },
      ],
      episodes: () => stream(real),
      score: scoreByFeedback('reward'),
      costUsd: () => undefined,
    })
    await expect(compare(source)).rejects.toMatchObject({
      code: 'not-found',
      hint: 'source.repeat is 0 (50), 1 (50), 2 (50), 3 (50)',
    })
  })
})
