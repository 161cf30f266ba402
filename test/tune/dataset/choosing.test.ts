import type { ModelCall, ToolCall } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import type { Candidate } from '../../../tune/dataset/types.ts'
import { assistant, call, candidate, dataset, model, says, trainedTexts, user } from './dataset-fixtures.ts'

describe('episodes that give rows', () => {
  test.each<[string, ModelCall[], Partial<Candidate>]>([
    ['truncated', [model([user], says('A'), { response: { outputs: [says('A')], finishReasons: ['length'], usage: {} } })], {}],
    ['filtered', [model([user], says('A'), { response: { outputs: [says('A')], finishReasons: ['content_filter'], usage: {} } })], {}],
    ['unfinished', [model([user], says('A'), { partial: true })], {}],
    ['unfinished', [model([user], says('A'), { response: { outputs: [says('A')], finishReasons: ['error'], usage: {} } })], {}],
    ['unfinished', [model([user], says('A'))], { stopped: true }],
    ['unfinished', [model([user], says('A')), { ...model([user, says('A')], says('')), error: { type: '500', message: '' } }], {}],
    ['invalid-arguments', [model([user], assistant(call('1', 'f', { arguments: '{', invalid: true })))], {}],
    ['no-assistant-turn', [], {}],
  ])('drop an episode as %s', async (reason, steps, given) => {
    const dropped = candidate(steps, given)
    expect((await dataset([dropped], { format: 'trl-sft' })).report.dropped).toEqual({ [reason]: [dropped.episode.id] })
  })

  test('drop a rollout in which the recording had no answer for a tool, and keep one whose tool itself failed', async () => {
    const toolCall = (given: Partial<ToolCall>): ToolCall => ({
      kind: 'tool',
      id: 'f'.repeat(16),
      startedAt: '2026-01-01T00:00:00.000Z',
      durationMs: 1,
      name: 'look',
      arguments: { q: 1 },
      effect: 'read',
      error: { type: 'off-tape', message: 'was not called with these arguments in the recording' },
      ...given,
    })
    const rollout = (tool: ToolCall): Candidate => {
      const made = candidate([model([user], says(`A${tool.id}${String(tool.offTape)}`))])
      return { ...made, episode: { ...made.episode, steps: [...made.episode.steps, tool] } }
    }
    const { error: _, ...answered } = toolCall({ offTape: 'simulate', result: 'found' })
    const [gone, failed, simulated] = [rollout(toolCall({ offTape: 'error' })), rollout(toolCall({})), rollout(answered)]
    const all = [gone, failed, simulated]
    const { report } = await dataset(all, { format: 'trl-sft' })
    expect({ dropped: report.dropped, rows: report.rows }).toEqual({ dropped: { 'off-tape': [gone.episode.id] }, rows: 2 })
    expect((await dataset(all, { format: 'trl-sft', offTape: 'keep' })).report.rows).toBe(3)
  })

  test('come of the split asked for and never of another', async () => {
    const all = (['train', 'validation', 'test', undefined] as const).map((split) =>
      candidate([model([user], says(String(split)))], { split }),
    )
    const train = await dataset(all, { format: 'trl-sft' })
    expect([train.rows.flatMap(trainedTexts), train.report.heldOut, train.report.considered]).toEqual([['train', 'undefined'], 2, 2])
    expect((await dataset(all, { format: 'trl-sft', split: 'validation' })).rows.flatMap(trainedTexts)).toEqual(['validation', 'undefined'])
  })

  test('come of the best of each task that scored enough; no score is not 0', async () => {
    const scores = [0.2, 0.9, 0.8, null, 0.9]
    const all = scores.map((score, index) => candidate([model([user], says(`t${index}`))], { task: 'same', score }))
    const ids = all.map(({ episode }) => episode.id)
    const { rows, report } = await dataset(all, { format: 'trl-sft', minScore: 0.5, best: 2 })
    expect(rows.flatMap(trainedTexts)).toEqual(['t1', 't4'])
    expect(report.dropped).toEqual({ 'below-threshold': [ids[0]], 'no-score': [ids[3]], 'not-best': [ids[2]] })
  })

  test('are not repeated: equal ones always, nearly equal ones where asked for', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')
    const all = [words, words, `${words} more`, 'something else altogether that shares nothing'].map((content) =>
      candidate([model([user], says(content))]),
    )
    const ids = all.map(({ episode }) => episode.id)
    expect((await dataset(all, { format: 'trl-sft' })).report.dropped).toEqual({ duplicate: [ids[1]] })
    expect((await dataset(all, { format: 'trl-sft', duplicates: 0.8 })).report.dropped).toEqual({ duplicate: [ids[1], ids[2]] })
  })
})
