import type { Message, ModelCall, Part, ToolCall } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeDataset } from '../../../tune/dataset/make-dataset.ts'
import { threadsOf } from '../../../tune/dataset/threads.ts'
import type { Candidate, DatasetOptions } from '../../../tune/dataset/types.ts'
import type { Row } from '../../../tune/formats/messages.ts'
import { modelCall, text } from '../../sdk/trace/episode-fixtures.ts'
import { candidateOf, sourceOf } from './case-source.ts'

const call = (id: string, name = 'look', given: object = {}): Part => ({ type: 'tool_call', id, name, arguments: { q: 1 }, ...given })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const says = (content: string) => text('assistant', content)
const result = (id: string, response: string): Message => ({ role: 'tool', parts: [{ type: 'tool_call_response', id, response }] })
const model = (messages: Message[], output: Message, given: Partial<ModelCall> = {}) => modelCall('', messages, [output], given)
let made = 0
const candidate = (steps: ModelCall[], given: Partial<Candidate> = {}): Candidate => {
  const id = `e${++made}`
  const base = candidateOf({ id, session: `s-${id}`, split: 'train', steps: steps.map(({ id: _, ...step }) => step) })
  return { ...base, ...given }
}

async function dataset(candidates: Candidate[], options: DatasetOptions, tasks: Parameters<typeof sourceOf>[1] = []) {
  const rows: Row[] = []
  const report = await makeDataset(sourceOf(candidates, tasks), options, async ({ row }) => {
    rows.push(row)
  })
  return { rows, report }
}

const user = text('user', 'Hi')

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

test('rows of groups hold the prompt up to the first turn, and every task that nobody has scored', async () => {
  const base = { hash: '0'.repeat(64), session: 's', tags: {}, source: { trace: 't' }, split: 'train' as const }
  const messages = [text('system', 'S'), user, text('user', 'later')].map((message) => JSON.parse(JSON.stringify(message)))
  const tasks = [
    { ...base, id: 'loop', messages, turns: [2, 1] },
    { ...base, id: 'module', input: { q: 1 } },
    { ...base, id: 'held', split: 'test' as const, input: 'x' },
  ]
  expect((await dataset([], { format: 'trl-grpo' }, tasks)).rows).toEqual([
    {
      prompt: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Hi' },
      ],
      task: 'loop',
    },
    { prompt: [{ role: 'user', content: '{"q":1}' }], task: 'module' },
  ])
})

test('a thread knows its tools from all of its calls', () => {
  const tools = (name: string) => ({ request: { messages: [user], tools: [{ name }], parameters: {} } })
  const second = { request: { messages: [user, says('A')], tools: [{ name: 'b' }, { name: 'a', description: 'later' }], parameters: {} } }
  const { episode } = candidate([model([], says('A'), tools('a')), model([], says('B'), second)])
  expect(threadsOf(episode).map((thread) => thread.tools)).toEqual([[{ name: 'a' }, { name: 'b' }]])
})

test('an unknown format is refused with those that there are', async () => {
  await expect(dataset([], { format: 'csv' })).rejects.toMatchObject({
    code: 'unknown-format',
    hint: expect.stringContaining('trl-sft, trl-tokens, openai-sft'),
  })
})

/** What a row trains, in order: the assistant messages of `messages` or `completion`. */
function trainedTexts(row: Row): string[] {
  const messages = (row['messages'] ?? row['completion']) as { role: string; content: string }[]
  return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
}
