import type { Message } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DatasetOptions } from '../../../tune/dataset/types.ts'
import { modelCall, text } from '../../sdk/trace/episode-fixtures.ts'
import { assistant, call, candidate, dataset, model, says, trainedTexts, user } from './dataset-fixtures.ts'

describe('rows of supervised fine-tuning', () => {
  test('train a turn once where history branches: the branch is a prompt and its completion, or weighs nothing for OpenAI', async () => {
    const steps = [
      model([user], says('A')),
      model([user, says('A'), text('user', 'x')], says('X')),
      model([user, says('A'), text('user', 'y')], says('Y')),
    ]
    const trl = await dataset([candidate(steps)], { format: 'trl-sft' })
    expect(trl.rows).toEqual([
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'A' },
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'X' },
        ],
      },
      {
        prompt: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'A' },
          { role: 'user', content: 'y' },
        ],
        completion: [{ role: 'assistant', content: 'Y' }],
      },
    ])
    const openai = await dataset([candidate(steps)], { format: 'openai-sft' })
    expect(openai.rows[1]).toEqual({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'A', weight: 0 },
        { role: 'user', content: 'y' },
        { role: 'assistant', content: 'Y' },
      ],
    })
  })

  test('hold every turn of an episode exactly once, however its calls hang together', async () => {
    const plan = fc.array(fc.record({ from: fc.nat(), cut: fc.nat(), asks: fc.boolean() }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(plan, async (calls) => {
        const histories: Message[][] = [[user]]
        const steps = calls.map(({ from, cut, asks }, index) => {
          const earlier = histories[from % histories.length] ?? []
          const messages = [...earlier.slice(0, 1 + (cut % earlier.length)), ...(asks ? [text('user', `q${index}`)] : [])]
          const output = says(`turn ${index}`)
          histories.push([...messages, output])
          return model(messages, output)
        })
        const { rows } = await dataset([candidate(steps)], { format: 'trl-sft' })
        const trained = rows.flatMap((row) => trainedTexts(row)).sort()
        expect(trained).toEqual(steps.map((_, index) => `turn ${index}`).sort())
      }),
      { numRuns: 200 },
    )
  })

  test('leave out calls that failed and were made good, and go on over history that was sent back without its reasoning', async () => {
    const thought = assistant({ type: 'reasoning', content: 'hm' }, { type: 'text', content: 'A' })
    const failed = { ...model([user], says('')), error: { type: '500', message: 'no' } }
    const { response: _, ...unanswered } = failed
    const steps = [unanswered, model([user], thought), model([user, says('A'), text('user', 'x')], says('X'))]
    const { rows } = await dataset([candidate(steps)], { format: 'trl-sft', reasoning: 'keep' })
    expect(rows).toEqual([
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'A', reasoning_content: 'hm' },
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'X' },
        ],
      },
    ])
  })

  test('take the output that the run went on with', async () => {
    const steps = [modelCall('', [user], [says('A'), says('B')], { chosen: 1 }), model([user, says('B'), text('user', 'x')], says('X'))]
    const { rows } = await dataset([candidate(steps)], { format: 'trl-sft' })
    expect(rows.flatMap(trainedTexts)).toEqual(['B', 'X'])
  })

  test('say their length in tokens as the provider counted them, else as an estimate', async () => {
    const counted = (content: string, input: number, output: number) =>
      model([user], says(content), {
        response: { outputs: [says(content)], finishReasons: ['stop'], usage: { inputTokens: input, outputTokens: output } },
      })
    const { report } = await dataset([candidate([counted('A', 90, 10)]), candidate([counted('B', 10, 10)])], { format: 'trl-sft' })
    expect(report.tokens).toEqual({ p50: 20, p95: 100, max: 100, exactShare: 1, trainedShare: 20 / 120 })
    expect((await dataset([candidate([model([user], says('A'))])], { format: 'trl-sft' })).report.tokens).toMatchObject({
      exactShare: 0,
      max: 20,
    })
  })

  test('write results of several calls in the order of the calls, whoever holds them', async () => {
    const calls = assistant(call('1'), call('2', 'other'))
    const both: Message = {
      role: 'user',
      parts: [
        { type: 'tool_call_response', id: '2', response: [{ type: 'text', text: 'two' }] },
        { type: 'tool_call_response', id: '1', response: { one: 1 } },
        { type: 'text', content: 'Go on.' },
      ],
    }
    const steps = [model([user], calls), model([user, calls, both], says('A'))]
    const { rows } = await dataset([candidate(steps)], { format: 'trl-sft', tools: 'json' })
    expect(rows).toEqual([
      {
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: '1', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
              { id: '2', type: 'function', function: { name: 'other', arguments: '{"q":1}' } },
            ],
          },
          { role: 'tool', content: '{"one":1}', tool_call_id: '1', name: 'look' },
          { role: 'tool', content: 'two', tool_call_id: '2', name: 'other' },
          { role: 'user', content: 'Go on.' },
          { role: 'assistant', content: 'A' },
        ],
        tools: '[]',
      },
    ])
  })
})

describe('reasoning', () => {
  test('is kept of the providers that are named, and of no other', async () => {
    const thinks = (content: string): Message => assistant({ type: 'reasoning', content: `why ${content}` }, { type: 'text', content })
    const first = model([user], thinks('A'), { provider: 'deepseek' })
    const second = model([user, thinks('A'), text('user', 'And?')], thinks('B'), { provider: 'openai' })
    const kept = async (reasoning: DatasetOptions['reasoning']) => {
      const { rows } = await dataset([candidate([first, second])], { format: 'trl-sft', ...(reasoning === undefined ? {} : { reasoning }) })
      return JSON.stringify(rows).match(/why ./g)
    }
    expect([await kept('keep'), await kept(['deepseek']), await kept(['nobody']), await kept(undefined)]).toEqual([
      ['why A', 'why B'],
      ['why A'],
      null,
      null,
    ])
  })
})
