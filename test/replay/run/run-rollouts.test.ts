import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { compareRun } from '../../../replay/compare/index.ts'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment, ToolOverride } from '../../../replay/environment/types.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Arm, Rollout } from '../../../replay/run/types.ts'
import { calls, episodeOf, result, text, toolSpan } from '../support/episodes.ts'

let folder: string
let environment: Environment
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-run-'))
})
afterEach(async () => {
  await environment?.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Asks for an order, hears the user out, refunds. */
const desk = (name: string): Episode =>
  episodeOf(
    name,
    [
      text('system', 'You are the desk.'),
      text('user', `Where is order ${name}?`),
      calls({ id: 'c1', name: 'get_order', arguments: { id: name } }),
      result('c1', 'lost'),
      text('assistant', 'It is lost.'),
      text('user', 'Then refund it.'),
      calls({ id: 'c2', name: 'refund', arguments: { id: name } }),
      result('c2', 'done'),
      text('assistant', 'Refunded.'),
    ],
    {
      tools: [
        toolSpan('get_order', { id: name }, 7, { callId: 'c1', result: 'lost' }),
        toolSpan('refund', { id: name }, 27, { callId: 'c2', effect: 'write', result: 'done' }),
      ],
      feedback: [
        {
          name: 'expected_actions',
          value: JSON.stringify([{ name: 'refund', arguments: { id: name } }]),
          source: 'human',
          at: '2026-01-05T10:00:00.000Z',
        },
      ],
    },
  )

async function open(names: string[], tools: Record<string, ToolOverride> = {}): Promise<Environment> {
  await buildEnvironment(names.map(desk), {
    name: 'desk',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'loop', maxSteps: 8 },
    tools,
  })
  environment = await openEnvironment(path.join(folder, 'env'))
  return environment
}

interface ChatMessage {
  role: string
  content?: string
}

/** An endpoint whose model does what `policy` says to the messages. */
function endpoint(
  policy: (messages: ChatMessage[], body: Record<string, unknown>) => object,
  seen: Record<string, unknown>[] = [],
): typeof fetch {
  return async (_url, init) => {
    const body: Record<string, unknown> & { messages: ChatMessage[] } = JSON.parse(String(init?.body))
    seen.push(body)
    const message = { role: 'assistant', content: null, ...policy(body.messages, body) }
    const finish = 'tool_calls' in message ? 'tool_calls' : 'stop'
    return Response.json({
      id: 'x',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    })
  }
}

const call = (name: string, args: object) => ({
  tool_calls: [{ id: 'n1', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
})

/** Looks the order up, then refunds when asked; `careless` refunds without looking. */
function clerk(messages: ChatMessage[], careless = false): object {
  const name = /order (\w+)/.exec(messages[1]?.content ?? '')?.[1]
  const last = messages.at(-1)
  if (last?.role === 'tool') return { content: last.content === 'lost' ? 'It is lost.' : 'Refunded.' }
  if (last?.content === 'Then refund it.') return call('refund', { id: name })
  return careless ? { content: 'No idea.' } : call('get_order', { id: name })
}

const arms: Arm[] = [
  { name: 'careful', model: 'm1', url: 'http://arm.test/v1' },
  { name: 'careless', model: 'm2', url: 'http://arm.test/v1', parameters: { temperature: 0 } },
]

async function run(
  options: Partial<RunOptions> = {},
  policy = (messages: ChatMessage[], body: Record<string, unknown>) => clerk(messages, body['model'] === 'm2'),
) {
  return await runRollouts(environment, {
    arms,
    folder: path.join(folder, 'run'),
    homeground: '0.1.0',
    deps: { fetch: endpoint(policy) },
    ...options,
  })
}

async function linesOf(name = 'run'): Promise<Rollout[]> {
  const lines: Rollout[] = []
  for await (const line of (await openRun(path.join(folder, name))).rollouts()) lines.push(line)
  return lines
}

const withoutTimes = (text: string) => text.replace(/"durationMs":[\d.]+/g, '"durationMs":0')

describe('runRollouts', () => {
  test('leaves no folder where whoever is told of its progress throws before it has begun', async () => {
    const options = { arms: [{ name: 'a', model: 'recorded' }], folder: path.join(folder, 'told'), homeground: '0.1.0' }
    const onProgress = () => {
      throw new Error('not told')
    }
    await expect(runRollouts(await open(['one']), { ...options, onProgress })).rejects.toThrow('not told')
    expect(fs.existsSync(options.folder)).toBe(false)
    await runRollouts(environment, options)
  })

  test('plays every task by every arm as often as asked, and scores what it did', async () => {
    await open(['a', 'b'])
    const done = await run({ repeats: 2 })
    expect(done.size).toEqual({ planned: 8, done: 8 })
    const lines = await linesOf()
    expect(lines.map((line) => [line.task, line.arm, line.repeat])).toEqual(
      done.file.tasks.flatMap((task) => ['careful', 'careless'].flatMap((arm) => [0, 1].map((repeat) => [task, arm, repeat]))),
    )
    const [careful] = lines
    expect(careful).toEqual({
      task: desk('a').id,
      session: 'session-a',
      arm: 'careful',
      repeat: 0,
      scores: {
        actions: { value: 1, weight: 1, reason: expect.any(String) },
        steps: { value: 1, weight: 0, reason: expect.any(String) },
        'uses get_order': { value: 1, weight: 0, reason: expect.any(String) },
        'uses refund': { value: 1, weight: 0, reason: expect.any(String) },
      },
      score: 1,
      offTape: { count: 0 },
      userTurns: { served: 1, afterDivergence: 0 },
      usage: { inputTokens: 28, outputTokens: 12 },
      durationMs: expect.any(Number),
      stop: 'done',
      episode: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    // It skipped the look-up: the user's second turn came after the two had parted.
    expect(lines[2]).toMatchObject({
      arm: 'careless',
      score: 1,
      userTurns: { served: 1, afterDivergence: 1 },
      divergence: { step: 1, kind: 'skipped' },
    })
  })

  test('refuses settings that no run can have before it asks a model or writes a file', async () => {
    await open(['a'])
    let asked = 0
    const ask = () => {
      asked += 1
      return {}
    }
    await expect(run({ repeats: 0 }, ask)).rejects.toMatchObject({ code: 'invalid-argument', message: expect.stringContaining('repeats') })
    expect([asked, fs.existsSync(path.join(folder, 'run'))]).toEqual([0, false])
  })

  test('records each rollout as an episode of its own', async () => {
    await open(['a'])
    const done = await run({ arms: arms.slice(0, 1) })
    const episodes: Episode[] = []
    for await (const episode of done.episodes()) episodes.push(episode)
    expect(episodes.map((episode) => [episode.id, episode.session, episode.source, episode.output])).toEqual([
      [
        (await linesOf())[0]?.episode,
        'session-a',
        { kind: 'rollout', run: done.file.id, arm: 'careful', task: desk('a').id, repeat: 0 },
        'Refunded.',
      ],
    ])
    expect(episodes[0]?.steps.map((step) => (step.kind === 'tool' ? [step.name, step.result, step.effect] : step.kind))).toEqual([
      'model',
      ['get_order', 'lost', 'read'],
      'model',
      'model',
      ['refund', 'done', 'write'],
      'model',
    ])
  })

  test("sends the arm's model and parameters, with the recorded tools", async () => {
    await open(['a'])
    const seen: Record<string, unknown>[] = []
    await run({ arms: arms.slice(1), deps: { fetch: endpoint((messages) => clerk(messages), seen) } })
    expect(seen[0]).toEqual({
      model: 'm2',
      temperature: 0,
      messages: [
        { role: 'system', content: 'You are the desk.' },
        { role: 'user', content: 'Where is order a?' },
      ],
    })
  })

  test('tells the model that a call was never recorded and goes on, or stops where the policy is fail', async () => {
    const policy = (messages: ChatMessage[]) =>
      messages.at(-1)?.role === 'tool' ? { content: messages.at(-1)?.content } : call('get_order', { id: 'z' })
    await open(['a'])
    await run({ arms: arms.slice(0, 1) }, policy)
    expect((await linesOf())[0]).toMatchObject({
      offTape: { count: 2, first: 1 },
      stop: 'done',
      score: 0,
      divergence: { step: 1, kind: 'off-tape' },
    })
    await environment.close()
    await open(['a'], { get_order: { onMiss: 'fail' } })
    await run({ arms: arms.slice(0, 1), folder: path.join(folder, 'strict') }, policy)
    expect((await linesOf('strict'))[0]).toMatchObject({
      offTape: { count: 1, first: 1 },
      stop: 'off-tape',
      score: null,
      error: { type: 'off-tape' },
    })
  })

  test('lets a model answer for a tool, shown the recorded calls: marked, counted, and without a score where it says nothing', async () => {
    const name = (messages: ChatMessage[]) => messages.at(-1)?.role === 'tool'
    const ask = (messages: ChatMessage[]) => (name(messages) ? { content: messages.at(-1)?.content } : call('get_order', { id: 'z' }))
    const shown: string[] = []
    const policy = (answer: string) => (messages: ChatMessage[], body: Record<string, unknown>) => {
      if (body['model'] !== 'stand-in') return ask(messages)
      shown.push(messages[1]?.content ?? '')
      return { content: answer }
    }
    await open(['a'], { get_order: { onMiss: 'simulate' } })
    await expect(run({ arms: arms.slice(0, 1) }, ask)).rejects.toMatchObject({ code: 'invalid-settings' })
    environment.file.simulator = { model: 'stand-in', url: 'http://stand-in.test/v1' }

    const done = await run({ arms: arms.slice(0, 1) }, policy('```json\n{"result":"no such order"}\n```'))
    expect((await linesOf())[0]).toMatchObject({ simulated: 2, offTape: { count: 2, first: 1 }, stop: 'done' })
    expect(JSON.parse(shown[0] ?? '')).toEqual({
      recorded: [{ arguments: { id: 'a' }, result: 'lost' }],
      call: { name: 'get_order', arguments: { id: 'z' } },
    })
    for await (const episode of done.episodes()) {
      const [tool] = episode.steps.filter((step) => step.kind === 'tool')
      expect(tool).toMatchObject({ name: 'get_order', result: 'no such order', offTape: 'simulate' })
    }

    await run({ arms: arms.slice(0, 1), folder: path.join(folder, 'vague') }, policy('It depends.'))
    expect((await linesOf('vague'))[0]).toMatchObject({ score: null, error: { message: expect.stringContaining('It depends.') } })
    expect((await linesOf('vague'))[0]?.simulated).toBeUndefined()

    await environment.close()
    await open(['a'], { get_order: { mode: 'simulate' } })
    environment.file.simulator = { model: 'stand-in', url: 'http://stand-in.test/v1' }
    await run({ arms: arms.slice(0, 1), folder: path.join(folder, 'always') }, policy('{"result":"sent"}'))
    expect((await linesOf('always'))[0]).toMatchObject({ simulated: 2, offTape: { count: 0 }, stop: 'done' })
  })

  test('gives no score where the endpoint failed, and tries again what may pass', async () => {
    await open(['a'])
    let attempts = 0
    const broken: typeof fetch = async () => {
      attempts += 1
      return new Response('{"error":{"message":"busy"}}', { status: 503 })
    }
    await run({ arms: arms.slice(0, 1), deps: { fetch: broken, sleep: async () => {} } })
    expect(attempts).toBe(5)
    expect((await linesOf())[0]).toMatchObject({
      stop: 'error',
      score: null,
      error: { type: '503', message: expect.stringContaining('busy') },
    })
  })

  test('stops a model that never ends', async () => {
    await open(['a'])
    await run({ arms: arms.slice(0, 1) }, () => call('get_order', { id: 'a' }))
    expect((await linesOf())[0]).toMatchObject({ stop: 'max-steps', offTape: { count: 7, first: 2 } })
  })

  test('ends a rollout that has spent its money, and scores it as it stands', async () => {
    await open(['a'])
    const prices = { m1: { input: 1, output: 1 } }
    const seen: Record<string, unknown>[] = []
    // Ten tokens a call: the second goes over, the third is not made.
    const harness = { kind: 'loop', maxSteps: 8, maxCostUsd: 0.000015 } as const
    await run({ arms: arms.slice(0, 1), prices, harness, deps: { fetch: endpoint((messages) => clerk(messages), seen) } })
    const [line] = await linesOf()
    expect(line).toMatchObject({ stop: 'max-cost', score: 0, costUsd: 0.00002 })
    expect([line?.error, seen.length]).toEqual([undefined, 2])
    const unpriced = { arms: arms.slice(0, 1), harness, prices: {}, folder: path.join(folder, 'unpriced') }
    await run(unpriced)
    expect((await linesOf('unpriced'))[0]).toMatchObject({
      score: null,
      error: { message: expect.stringContaining('the cost of m1 is not known') },
    })
  })

  test('gives no score to a rollout that takes too long, and lets the endpoint go', async () => {
    await open(['a'])
    let gone = false
    const hanging: typeof fetch = (_url, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => {
          gone = true
          reject(init.signal?.reason)
        })
      })
    await run({ arms: arms.slice(0, 1), harness: { kind: 'loop', maxSteps: 8, timeoutMs: 100 }, deps: { fetch: hanging } })
    expect((await linesOf())[0]).toMatchObject({ stop: 'timeout', score: null, error: { type: 'timeout' } })
    expect(gone).toBe(true)
  })

  test.each([
    [
      'refused the connection',
      async () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') })),
      'did not answer: connect ECONNREFUSED',
    ],
    ['answers with an error', async () => new Response('the model is loading', { status: 503 }), 'answered 503: the model is loading'],
  ])('says of a rollout without time that its endpoint %s', async (_, fetch, said) => {
    await open(['a'])
    const never = (_ms: number, signal: AbortSignal | undefined) =>
      new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    await run({ arms: arms.slice(0, 1), harness: { kind: 'loop', maxSteps: 8, timeoutMs: 100 }, deps: { fetch, sleep: never } })
    expect((await linesOf())[0]).toMatchObject({ stop: 'timeout', score: null, error: { message: expect.stringContaining(said) } })
  })

  test('gives the same rollouts, less timings, with any concurrency', async () => {
    await open(['a', 'b', 'c', 'd', 'e'])
    await run({ repeats: 2, concurrency: 1, folder: path.join(folder, 'one') })
    await run({ repeats: 2, concurrency: 8, folder: path.join(folder, 'eight') })
    const read = (name: string) => withoutTimes(fs.readFileSync(path.join(folder, name, 'rollouts.jsonl'), 'utf8'))
    expect(read('eight')).toBe(read('one'))
  })

  test('goes on where it stopped, with a torn last line, and runs no finished rollout twice', async () => {
    await open(['a', 'b', 'c'])
    await run({ folder: path.join(folder, 'whole') })
    await run()
    const file = (name: string) => path.join(folder, 'run', name)
    const lines = fs.readFileSync(file('rollouts.jsonl'), 'utf8').split('\n')
    const episodes = fs.readFileSync(file('episodes.jsonl'), 'utf8').split('\n')
    // Two are there, of the third only the episode and the beginning of its line.
    fs.writeFileSync(file('rollouts.jsonl'), `${lines[3]}\n${lines[0]}\n${lines[1]?.slice(0, 40)}`)
    fs.writeFileSync(file('episodes.jsonl'), `${episodes[3]}\n${episodes[0]}\n${episodes[1]}\n${episodes[2]?.slice(0, 99)}`)
    const seen: Record<string, unknown>[] = []
    const done = await run({ deps: { fetch: endpoint((messages, body) => clerk(messages, body['model'] === 'm2'), seen) } })
    expect(done.size).toEqual({ planned: 6, done: 6 })
    expect(withoutTimes(fs.readFileSync(file('rollouts.jsonl'), 'utf8'))).toBe(
      withoutTimes(fs.readFileSync(path.join(folder, 'whole', 'rollouts.jsonl'), 'utf8')),
    )
    const ids: string[] = []
    for await (const episode of done.episodes()) ids.push(episode.id)
    expect(ids).toEqual((await linesOf()).map((line) => line.episode))
    // 6 rollouts of 3 or 4 calls, 2 of them there already.
    expect(new Set(seen.map((body) => body['model']))).toEqual(new Set(['m1', 'm2']))
    expect(seen.length).toBe(2 * 4 + 2 * 3)
  })

  test('stops on a signal and says how to go on', async () => {
    await open(['a', 'b', 'c'])
    const controller = new AbortController()
    const stopped = run({ concurrency: 1, signal: controller.signal, onProgress: ({ done }) => done === 2 && controller.abort() })
    await expect(stopped).rejects.toMatchObject({ code: 'interrupted', message: expect.stringContaining('2 of 6') })
    expect((await run()).size).toEqual({ planned: 6, done: 6 })
  })

  test('begins nothing more once its money is spent, counts what earlier calls spent, and goes on with more', async () => {
    await open(['a', 'b', 'c'])
    const prices = { m1: { input: 1, output: 1 }, m2: { input: 1, output: 1 } }
    // 28 + 12 tokens a careful rollout: 40 millionths of a dollar.
    const poor = { concurrency: 1, prices, maxCostUsd: 0.00007 }
    const spent: number[] = []
    const first = await run({ ...poor, onProgress: ({ spentUsd }) => spent.push(Math.round(spentUsd * 1e6)) })
    expect([first.size, spent]).toEqual([{ planned: 6, done: 2 }, [0, 40, 70]])
    const again = await run(poor)
    expect(again.size).toEqual({ planned: 6, done: 2 })
    expect(await compareRun(again)).toMatchObject({ pairs: [{ verdict: { word: 'none', reason: 'unfinished' } }] })
    expect((await run({ ...poor, maxCostUsd: 1 })).size).toEqual({ planned: 6, done: 6 })
  })

  test('keeps no limit that it cannot count: a model without a price, an answer without token counts', async () => {
    await open(['a'])
    await expect(run({ maxCostUsd: 1, prices: { m1: { input: 1, output: 1 } } })).rejects.toMatchObject({
      code: 'invalid-settings',
      message: 'the cost of m2 is not known, so no limit can be kept',
    })
    const uncounted: typeof fetch = async () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] })
    const alone = { arms: arms.slice(0, 1), prices: { m1: { input: 1, output: 1 } }, folder: path.join(folder, 'uncounted') }
    await expect(run({ ...alone, maxCostUsd: 1, deps: { fetch: uncounted } })).rejects.toMatchObject({ code: 'invalid-settings' })
    expect((await run({ ...alone, deps: { fetch: uncounted } })).size.done).toBe(1)
  })

  test('refuses to go on with other settings, to fill a foreign folder and to share a run', async () => {
    await open(['a'])
    await run()
    await expect(run({ repeats: 2 })).rejects.toMatchObject({ code: 'run-mismatch', message: expect.stringContaining('repeats') })
    await expect(run({ arms: [] })).rejects.toMatchObject({ code: 'invalid-argument' })
    fs.writeFileSync(path.join(folder, 'run', 'run.lock'), '1')
    await expect(run()).rejects.toMatchObject({ code: 'invalid-argument', message: expect.stringContaining('process 1') })
    await expect(run({ folder: path.join(folder, 'env') })).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  test('names an arm whose key is not set', async () => {
    await open(['a'])
    await expect(run({ arms: [{ name: 'x', model: 'm', url: 'http://arm.test', apiKeyEnv: 'NO_SUCH_KEY' }] })).rejects.toMatchObject({
      code: 'invalid-settings',
      message: 'arm x: the environment variable NO_SUCH_KEY is not set',
    })
  })
})
