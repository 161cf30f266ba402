// Models that are asked beside the arms': judges, and the one that stands in for tools and the user. What they take is noted, estimated and within the limits.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type ModelServer, type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { compareRun, writeReport } from '../../../replay/compare/index.ts'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { estimateRun } from '../../../replay/run/estimate-run.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { rescoreRun } from '../../../replay/run/rescore-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { episodeOf, text } from '../support/episodes.ts'

let server: ModelServer
let folder: string
let environment: Environment
/** What the simulated user says next, or `undefined` for the end. */
let user: (shown: { recorded: string[]; conversation: { you?: string; agent?: string }[] }) => unknown

const usage = { prompt_tokens: 100, completion_tokens: 10 }
// A dollar a token in, nothing out: dollars are counted tokens.
const prices = Object.fromEntries(['agent', 'judge', 'stand-in'].map((model) => [model, { input: 1e6, output: 0 }]))

function answer({ body }: RecordedRequest): string {
  const messages = body['messages'] as { role: string; content: string }[]
  const [first, second] = messages
  if (body['model'] === 'judge') {
    const ticket = /"ticket": "(\w+)"/.exec(first?.content ?? '')?.[1]
    return JSON.stringify({ ticket, reason: 'so it seems', verdict: 'pass' })
  }
  if (body['model'] === 'stand-in') return JSON.stringify(user(JSON.parse(second?.content ?? '')))
  return `Heard: ${messages.at(-1)?.content}`
}

beforeAll(async () => {
  server = await startModelServer({
    policy: (request) => ({
      status: 200,
      body: {
        id: 'x',
        model: String(request.body['model']),
        choices: [{ index: 0, message: { role: 'assistant', content: answer(request) }, finish_reason: 'stop' }],
        usage,
      },
    }),
  })
})
afterAll(() => server.close())
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-others-'))
  user = ({ conversation }) => (conversation.length < 4 ? { says: `and ${conversation.length}?` } : { ends: true })
  const episodes = ['a', 'b'].map((name) =>
    episodeOf(name, [
      text('user', `Where is ${name}?`),
      text('assistant', 'Here.'),
      text('user', 'Where exactly?'),
      text('assistant', 'There.'),
    ]),
  )
  await buildEnvironment(episodes, {
    name: 'others',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'loop', maxSteps: 8 },
    rubric: {
      criteria: [
        {
          name: 'polite',
          type: 'judge',
          weight: 1,
          instructions: 'The agent is polite.',
          model: 'judge',
          scale: 'binary',
          repeats: 2,
          reference: false,
          url: server.url,
          timeoutMs: 10_000,
        },
      ],
    },
  })
  environment = await openEnvironment(path.join(folder, 'env'))
})
afterEach(async () => {
  await environment.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

function simulateUser(): void {
  environment.file.user = { mode: 'simulate' }
  environment.file.simulator = { model: 'stand-in', url: server.url }
}

async function run(name: string, options: Partial<RunOptions> = {}): Promise<{ lines: Rollout[]; spentUsd: number; done: number }> {
  let spentUsd = 0
  const { size } = await runRollouts(environment, {
    arms: [{ name: 'a', model: 'agent', url: server.url }],
    folder: path.join(folder, name),
    homeground: '0.1.0',
    concurrency: 1,
    prices,
    onProgress: (progress) => {
      spentUsd = progress.spentUsd
    },
    ...options,
  })
  const lines: Rollout[] = []
  for await (const line of (await openRun(path.join(folder, name))).rollouts()) lines.push(line)
  return { lines, spentUsd, done: size.done }
}

test('what judges take stands beside what the arm costs, and counts as spent', async () => {
  const { lines, spentUsd } = await run('judged')
  expect(lines.map(({ costUsd, judges, simulators }) => ({ costUsd, judges, simulators }))).toEqual(
    new Array(2).fill({
      costUsd: 200,
      judges: { calls: 2, usage: { inputTokens: 200, outputTokens: 20 }, costUsd: 200 },
      simulators: undefined,
    }),
  )
  expect(spentUsd).toBe(800)
  // The second rollout is not begun: without the judges the first had not spent so much.
  expect(await run('poor', { maxCostUsd: 300 })).toMatchObject({ done: 1, spentUsd: 400 })
  expect(await run('poor', { maxCostUsd: 300 })).toMatchObject({ done: 1, spentUsd: 400 })
})

test('a simulated user hears the candidate, and ends when it has said all', async () => {
  simulateUser()
  const heard: unknown[] = []
  const says = user
  user = (shown) => {
    heard.push(shown)
    return says(shown)
  }
  const { lines, spentUsd } = await run('simulated', { tasks: { limit: 1 } })
  const [name] = /\b[ab]\b/.exec(JSON.stringify(heard[0])) ?? []
  expect(heard).toEqual([
    {
      recorded: [`Where is ${name}?`, 'Where exactly?'],
      conversation: [{ you: `Where is ${name}?` }, { agent: `Heard: Where is ${name}?` }],
    },
    {
      recorded: [`Where is ${name}?`, 'Where exactly?'],
      conversation: [{ you: `Where is ${name}?` }, { agent: `Heard: Where is ${name}?` }, { you: 'and 2?' }, { agent: 'Heard: and 2?' }],
    },
  ])
  expect(lines).toMatchObject([
    {
      stop: 'done',
      score: 1,
      userTurns: { served: 1, afterDivergence: 0, simulated: 1 },
      costUsd: 200,
      simulators: { calls: 2, usage: { inputTokens: 200, outputTokens: 20 }, costUsd: 200 },
    },
  ])
  expect(spentUsd).toBe(600)
})

test('the recorded arm hears the recorded user, and nobody is asked to play one', async () => {
  simulateUser()
  user = () => {
    throw new Error('asked')
  }
  const { lines } = await run('recorded', { arms: [{ name: 'r', model: 'recorded' }] })
  expect(lines.map(({ userTurns, simulators }) => [userTurns, simulators])).toEqual(
    new Array(2).fill([{ served: 1, afterDivergence: 0 }, undefined]),
  )
})

test.each([
  ['nonsense', 'It depends.'],
  ['neither words nor an end', { says: '' }],
])('a simulated user that says %s ends the rollout without a score', async (_, said) => {
  simulateUser()
  user = () => said
  const { lines } = await run('vague', { tasks: { limit: 1 } })
  expect(lines).toMatchObject([
    { stop: 'error', score: null, error: { type: 'simulation-failed' }, simulators: { calls: 1, costUsd: 100 } },
  ])
})

test('a user that cannot be simulated is refused before it is played', async () => {
  simulateUser()
  delete environment.file.simulator
  await expect(run('none')).rejects.toMatchObject({
    code: 'invalid-settings',
    message: expect.stringContaining('env.json has no simulator'),
  })
})

test("a rollout's limit counts what stands in for the user", async () => {
  simulateUser()
  user = ({ conversation }) => ({ says: `and ${conversation.length}?` })
  // Agent and user take a hundred each: 100, 200, 300 and at 400 the third call of the agent is not made.
  const harness = { kind: 'loop', maxSteps: 8, maxCostUsd: 350 } as const
  const { lines } = await run('limited', { harness, tasks: { limit: 1 } })
  expect(lines).toMatchObject([{ stop: 'max-cost', costUsd: 200, simulators: { calls: 2 } }])
})

test('a limit is not kept where the price of a judge or of a simulator is not known', async () => {
  const { judge: _, ...without } = prices
  await expect(run('judge', { maxCostUsd: 1, prices: without })).rejects.toMatchObject({
    code: 'invalid-settings',
    message: 'the cost of judge is not known, so no limit can be kept',
  })
  simulateUser()
  const { 'stand-in': __, ...unknown } = prices
  await expect(run('simulator', { maxCostUsd: 1, prices: unknown })).rejects.toMatchObject({
    message: 'the cost of stand-in is not known, so no limit can be kept',
  })
  expect((await run('unlimited', { prices: unknown, tasks: { limit: 1 } })).lines).toMatchObject([
    { simulators: { calls: 2, usage: { inputTokens: 200 } }, judges: { costUsd: 200 } },
  ])
})

test('an estimate names judges and simulators with their cost, and adds them to the sum', async () => {
  simulateUser()
  const arms = [
    { name: 'a', model: 'agent' },
    { name: 'r', model: 'recorded' },
  ]
  const estimate = await estimateRun(environment, { arms, prices, repeats: 3 })
  const { judges, simulators, costUsd } = estimate
  // 2 tasks x 3 repeats: 2 verdicts of each arm, 2 turns of the user of one arm.
  expect(judges).toEqual({ calls: 24, inputTokens: expect.any(Number), outputTokens: 3600, costUsd: judges?.inputTokens })
  expect(simulators).toEqual({ calls: 12, inputTokens: expect.any(Number), outputTokens: 1800, costUsd: simulators?.inputTokens })
  expect(costUsd).toBeCloseTo((judges?.costUsd ?? 0) + (simulators?.costUsd ?? 0) + 2 * 3 * 20, 6)
  const { costUsd: none, ...rest } = await estimateRun(environment, { arms, prices: { agent: { input: 1, output: 1 } } })
  expect([none, rest.judges?.costUsd, rest.simulators?.costUsd, rest.judges?.calls]).toEqual([undefined, undefined, undefined, 8])
})

test("the report shows what the test's own models cost, apart from the arms' cost; scoring again bills the judges anew", async () => {
  const arms = ['a', 'b'].map((name) => ({ name, model: 'agent', url: server.url }))
  await run('two', { arms })
  const played = await openRun(path.join(folder, 'two'))
  const comparison = await compareRun(played)
  expect(comparison.arms.map(({ cost, judges, simulators }) => ({ total: cost?.total, judges, simulators }))).toEqual(
    new Array(2).fill({ total: 400, judges: { calls: 4, usd: 400 }, simulators: undefined }),
  )
  const { html } = await writeReport(played, comparison)
  expect(fs.readFileSync(html, 'utf8')).toMatch(/judges, in all<\/th><td>\$400 <small>4 calls, not in the cost<\/small>/)
  const again = await rescoreRun(played, environment, { folder: path.join(folder, 'again'), id: 'again', prices: {} })
  const bills: unknown[] = []
  for await (const { judges } of again.rollouts()) bills.push(judges)
  expect(bills).toEqual(new Array(4).fill({ calls: 2, usage: { inputTokens: 200, outputTokens: 20 } }))
})
