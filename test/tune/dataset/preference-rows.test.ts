import type { Message } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import type { Candidate } from '../../../tune/dataset/types.ts'
import type { Row } from '../../../tune/formats/messages.ts'
import { text } from '../../sdk/trace/episode-fixtures.ts'
import { assistant, call, candidate, dataset, model, result, says, user } from './dataset-fixtures.ts'

describe('rows of preference training', () => {
  const run = (score: number | null, outputs: Message[], id: string, answer = 'found'): Candidate => {
    const [first, second] = outputs
    const steps =
      first === undefined
        ? []
        : second === undefined
          ? [model([user], first)]
          : [model([user], first), model([user, first, result(id, answer)], second)]
    return candidate(steps, { task: 't', score })
  }

  test('take best with worst, then second best with second worst, as many as asked for', async () => {
    const all = [0, 1, 0.9, 0.2].map((score) => run(score, [says(`says ${score}`)], ''))
    const sides = (rows: Row[]) => rows.map((row) => JSON.stringify([row['chosen'], row['rejected']]).match(/says [\d.]+/g))
    expect(sides((await dataset(all, { format: 'trl-dpo' })).rows)).toEqual([['says 1', 'says 0']])
    expect(sides((await dataset(all, { format: 'trl-dpo', pairs: 2 })).rows)).toEqual([
      ['says 1', 'says 0'],
      ['says 0.9', 'says 0.2'],
    ])
    expect(sides((await dataset(all, { format: 'trl-dpo', pairs: 2, margin: 0.8 })).rows)).toEqual([['says 1', 'says 0']])
  })

  test.each<[string, Candidate[]]>([
    [
      'environment-diverged',
      [run(1, [assistant(call('a')), says('A')], 'a', 'found'), run(0, [assistant(call('b')), says('B')], 'b', 'lost')],
    ],
    ['environment-diverged', [run(1, [assistant(call('a')), says('A')], 'a'), run(0, [assistant(call('b'))], 'b')]],
    [
      'environment-diverged',
      [candidate([model([text('system', 'v2'), user], says('A'))], { task: 't', score: 1 }), run(0, [says('B')], '')],
    ],
    ['no-score', [run(1, [says('A')], ''), run(null, [says('B')], '')]],
    ['single-attempt', [run(1, [says('A')], '')]],
    ['tie', [run(1, [says('A')], ''), run(1, [says('B')], '')]],
    ['invalid-arguments', [run(1, [assistant(call('a', 'f', { arguments: '{', invalid: true }))], ''), run(0, [says('B')], '')]],
    ['no-assistant-turn', [run(1, [says('A')], ''), run(0, [], '')]],
  ])('drop a task as %s', async (reason, sides) => {
    expect((await dataset(sides, { format: 'trl-dpo' })).report.dropped).toEqual({ [reason]: ['t'] })
  })

  test('go on to the next two where the environment answered the best and the worst differently', async () => {
    const all = [
      run(1, [assistant(call('a')), says('best')], 'a', 'found'),
      run(0.5, [assistant(call('b')), says('middling')], 'b', 'found'),
      run(0, [assistant(call('c')), says('worst')], 'c', 'lost'),
    ]
    const { rows, report } = await dataset(all, { format: 'trl-dpo' })
    expect(rows.map(({ chosen, rejected }) => [chosen, rejected])).toEqual([
      [[{ role: 'assistant', content: 'best' }], [{ role: 'assistant', content: 'middling' }]],
    ])
    expect(report.dropped).toEqual({})
  })

  test('come as soon as all attempts at a task were read, so that no more of them are held', async () => {
    const source = Array.from({ length: 4 }, (_, index) =>
      candidate([model([user], says(`says ${index}`))], { task: index < 2 ? 'one' : 'two', score: index % 2 }),
    )
    const events: string[] = []
    await makeDataset(
      {
        candidates: async function* () {
          for (const each of source) {
            events.push(`read ${each.task}`)
            yield each
          }
        },
        tasks: async function* () {},
      },
      { format: 'trl-dpo' },
      async ({ from }) => void events.push(`row of ${from.task}`),
    )
    expect(events.slice(4)).toEqual(['read one', 'read one', 'row of one', 'read two', 'read two', 'row of two'])
  })

  test('take a call with broken arguments as the worse side: that is what is to be unlearned', async () => {
    const { rows } = await dataset([run(1, [says('A')], ''), run(0, [assistant(call('a', 'f', { arguments: '{', invalid: true }))], '')], {
      format: 'trl-dpo',
    })
    expect(rows.length).toBe(1)
  })
})

test('rows of single answers hold the last turn, good from the threshold on', async () => {
  const steps = [model([user], says('A')), model([user, says('A'), text('user', 'x')], says('X'))]
  const scored = [0.6, 0.4, null].map((score) => candidate(steps, { score }))
  const { rows, report } = await dataset(scored, { format: 'trl-kto' })
  const prompt = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'A' },
    { role: 'user', content: 'x' },
  ]
  const completion = [{ role: 'assistant', content: 'X' }]
  expect(rows).toEqual([
    { prompt, completion, label: true },
    { prompt, completion, label: false },
  ])
  expect(report.dropped).toEqual({ 'no-score': [scored[2]?.episode.id] })
})
