import type { ModelCall } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { text } from '../../sdk/trace/episode-fixtures.ts'
import { candidate, dataset, model, says, user } from './dataset-fixtures.ts'

describe('rows of token ids', () => {
  const sampled = (promptIds: number[], completionIds: number[]): Partial<ModelCall> => ({ tokens: { promptIds, completionIds } })

  test('stitch turns whose prompts go on with exactly the tokens before them, and train what was sampled', async () => {
    const steps = [
      model([user], says('A'), sampled([1, 2], [3, 4])),
      model([user, says('A'), text('user', 'x')], says('B'), sampled([1, 2, 3, 4, 5], [6])),
      model([user, says('A'), text('user', 'x'), says('B'), text('user', 'y')], says('C'), sampled([1, 2, 9], [7])),
    ]
    const { rows, report } = await dataset([candidate(steps)], { format: 'trl-tokens' })
    expect(rows).toEqual([
      { input_ids: [1, 2, 3, 4, 5, 6], labels: [-100, -100, 3, 4, -100, 6] },
      { input_ids: [1, 2, 9, 7], labels: [-100, -100, -100, 7] },
    ])
    expect(report.tokens).toEqual({ p50: 4, p95: 6, max: 6, exactShare: 1, trainedShare: 0.4 })
  })

  test('are not made of an episode with a turn that carries none', async () => {
    const whole = candidate([model([user], says('A'), sampled([1], [2]))])
    const half = candidate([model([user], says('A'), sampled([1], [2])), model([user, says('A'), text('user', 'x')], says('B'))])
    const { rows, report } = await dataset([whole, half], { format: 'trl-tokens' })
    expect([rows.length, report.dropped]).toEqual([1, { 'no-tokens': [half.episode.id] }])
  })
})
