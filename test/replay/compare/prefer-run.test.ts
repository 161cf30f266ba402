import { expect, test } from 'vitest'
import { estimatePreferences, type JudgedPair, preferRun } from '../../../replay/compare/index.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { modelStep, sampleEpisode } from '../rubric/sample.ts'
import { sampleRun } from './sample-run.ts'

const episode = (made: Rollout) => sampleEpisode({ id: made.episode, steps: [modelStep(`${made.arm} on ${made.task}`)] })
const question = {
  model: 'j',
  instructions: 'Kinder.',
  url: 'http://judge.test/v1',
  apiKeyEnv: undefined,
  parameters: {},
  timeoutMs: 1_000,
}

/** A judge that names, of the two texts it is shown, the place of the one that `choose` picks. */
function judge(
  choose: (texts: [string, string]) => 'first' | 'second' | 'tie' | 'nonsense',
  seen: { count: number } = { count: 0 },
  usage?: { prompt_tokens: number; completion_tokens: number },
) {
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    seen.count += 1
    const [system, user] = (JSON.parse(String(init?.body)) as { messages: { content: string }[] }).messages.map(({ content }) => content)
    const ticket = /"ticket": "(\w+)"/.exec(system ?? '')?.[1]
    const [first = '', second = ''] = (user ?? '').split('<second-')
    const verdict = choose([first, second])
    const choices = [{ message: { content: JSON.stringify({ ticket, reason: 'so it is', verdict }) } }]
    return Response.json({ choices, ...(usage === undefined ? {} : { usage }) })
  }
  return { fetch, environment: {}, sleep: async () => {} }
}
const prefers = (arm: string) => (texts: [string, string]) => (texts[0].includes(`${arm} on`) ? ('first' as const) : ('second' as const))

test('an arm that is preferred in both orders wins, pair by pair, with an interval over sessions', async () => {
  const run = sampleRun({ tasks: 12, repeats: 2, rollout: () => ({}), episode })
  const seen = { count: 0 }
  const pairs: JudgedPair[] = []
  // In every fourth task the baseline is better.
  const choose = (texts: [string, string]) => prefers(/on task-(0|4|8)\b/.test(texts[0]) ? 'a' : 'b')(texts)
  const options = { baseline: 'a', candidate: 'b', question, prices: {}, onPreference: (pair: JudgedPair) => pairs.push(pair) }
  const found = await preferRun(run, options, judge(choose, seen))
  expect(found).toEqual({
    baseline: 'a',
    candidate: 'b',
    pairs: 24,
    wins: 18,
    losses: 6,
    ties: 0,
    byOrder: 0,
    withoutVerdict: 0,
    judges: { calls: 48, usage: {} },
    share: { mean: 0.75, low: expect.closeTo(0.4626, 3), high: 1, sessions: 12 },
    signTest: { wins: 9, losses: 3, p: expect.closeTo(0.1459961, 6) },
  })
  expect(seen.count).toBe(48)
  expect(pairs.find(({ task, repeat }) => task === 'task-4' && repeat === 1)).toEqual({
    task: 'task-4',
    session: 'session-4',
    repeat: 1,
    value: 0,
    reason: 'so it is',
    byOrder: false,
    judges: { calls: 2, usage: {} },
  })
})

test('a judge that goes by the order prefers neither, and is counted', async () => {
  const run = sampleRun({ tasks: 8, rollout: () => ({}), episode })
  const found = await preferRun(
    run,
    { baseline: 'a', candidate: 'b', question, prices: {} },
    judge(() => 'first'),
  )
  expect(found).toMatchObject({ wins: 0, losses: 0, ties: 8, byOrder: 8, share: { mean: 0.5, low: 0.5, high: 0.5 } })
})

test('nonsense is no verdict, and a judge that says nothing else gives no share', async () => {
  const run = sampleRun({ tasks: 8, rollout: () => ({}), episode })
  const found = await preferRun(
    run,
    { baseline: 'a', candidate: 'b', question, prices: {} },
    judge(() => 'nonsense'),
  )
  expect(found).toMatchObject({ pairs: 8, withoutVerdict: 8, ties: 0, share: null })
})

test('tries that broke off are in no pair, a limit is spread over the run, and an arm that is not there is named', async () => {
  const broken = ({ task, arm }: { task: number; arm: string }) =>
    task === 3 && arm === 'b' ? { error: { type: '503', message: 'x' }, score: null } : {}
  const run = sampleRun({ tasks: 8, rollout: broken, episode })
  expect((await preferRun(run, { baseline: 'a', candidate: 'b', question, prices: {} }, judge(prefers('b')))).pairs).toBe(7)
  const pairs: JudgedPair[] = []
  await preferRun(
    run,
    { baseline: 'a', candidate: 'b', question, prices: {}, limit: 3, onPreference: (pair) => pairs.push(pair) },
    judge(prefers('b')),
  )
  expect(pairs.map(({ task }) => task).sort()).toEqual(['task-0', 'task-4', 'task-6'])
  await expect(preferRun(run, { baseline: 'a', candidate: 'z', question, prices: {} }, judge(prefers('b')))).rejects.toMatchObject({
    code: 'not-found',
    hint: 'its arms are a, b',
  })
})

const prices = { j: { input: 1, output: 10 } }
const usage = { prompt_tokens: 1_000, completion_tokens: 100 }

test('what the judge took is told of each pair and of all, nonsense too: it was paid for', async () => {
  const run = sampleRun({ tasks: 8, rollout: () => ({}), episode })
  const pairs: JudgedPair[] = []
  const options = { baseline: 'a', candidate: 'b', question, prices, onPreference: (pair: JudgedPair) => pairs.push(pair) }
  const found = await preferRun(
    run,
    options,
    judge((texts) => (/ task-3\b/.test(texts[0]) ? 'nonsense' : 'tie'), { count: 0 }, usage),
  )
  expect([found.judges, found.stopped, found.withoutVerdict]).toEqual([
    { calls: 16, usage: { inputTokens: 16_000, outputTokens: 1_600 }, costUsd: expect.closeTo(0.032, 9) },
    undefined,
    1,
  ])
  const each = { calls: 2, usage: { inputTokens: 2_000, outputTokens: 200 }, costUsd: expect.closeTo(0.004, 9) }
  expect(pairs.map(({ judges }) => judges)).toEqual(pairs.map(() => each))
})

test('no pair is begun once the judge has cost what is allowed, and the rest is no result', async () => {
  const run = sampleRun({ tasks: 12, rollout: () => ({}), episode })
  const limits = { baseline: 'a', candidate: 'b', question, prices, concurrency: 1 }
  const seen = { count: 0 }
  const found = await preferRun(run, { ...limits, maxCostUsd: 0.01 }, judge(prefers('b'), seen, usage))
  expect([found.stopped, found.pairs, found.wins, seen.count]).toEqual(['max-cost', 3, 3, 6])
  const whole = await preferRun(run, { ...limits, maxCostUsd: 0.048 }, judge(prefers('b'), seen, usage))
  expect([whole.stopped, whole.pairs]).toEqual([undefined, 12])
})

test('a limit that cannot be kept is refused: before anybody is asked without a price, at the first answer without a count', async () => {
  const run = sampleRun({ tasks: 8, rollout: () => ({}), episode })
  const seen = { count: 0 }
  const limits = { baseline: 'a', candidate: 'b', question, maxCostUsd: 1, concurrency: 1 }
  await expect(preferRun(run, { ...limits, prices: {} }, judge(prefers('b'), seen, usage))).rejects.toThrow(
    'the cost of j is not known, so no limit can be kept',
  )
  expect(seen.count).toBe(0)
  await expect(preferRun(run, { ...limits, prices }, judge(prefers('b'), seen))).rejects.toThrow('the cost of the judge is not known')
  expect(seen.count).toBe(2)
})

test('an estimate says what the judge would be asked, by the length of what it would be shown', async () => {
  const run = sampleRun({ tasks: 8, rollout: () => ({}), episode })
  let shown = 0
  const counted: typeof globalThis.fetch = async (url, init) => {
    const { messages } = JSON.parse(String(init?.body)) as { messages: { content: string }[] }
    shown += Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4)
    return await judge(prefers('b')).fetch(url, init)
  }
  const asked = { baseline: 'a', candidate: 'b', question, prices }
  const estimate = await estimatePreferences(run, asked)
  expect(shown).toBe(0)
  await preferRun(run, { ...asked, onEstimate: (told) => expect(told).toEqual(estimate) }, { ...judge(prefers('b')), fetch: counted })
  expect(estimate).toEqual({
    pairs: 8,
    judges: { calls: 16, inputTokens: shown, outputTokens: 2_400, costUsd: expect.closeTo((shown + 24_000) / 1e6, 9) },
  })
})
