// What becomes of one rollout: what the model is sent, what is recorded, and how it ends and is scored.
import path from 'node:path'
import type { Episode } from '@homeground/sdk/trace'
import { expect, test } from 'vitest'
import { arms, type ChatMessage, call, clerk, desk, endpoint, environment, folder, linesOf, open, run } from '../support/clerk-runs.ts'

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

test('names an arm whose key is not set', async () => {
  await open(['a'])
  await expect(run({ arms: [{ name: 'x', model: 'm', url: 'http://arm.test', apiKeyEnv: 'NO_SUCH_KEY' }] })).rejects.toMatchObject({
    code: 'invalid-settings',
    message: 'arm x: the environment variable NO_SUCH_KEY is not set',
  })
})
