// The product in worker threads, as `env verify` and `run` play it: virtual time and dice, a guarded network, crashes contained.
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { assembleEpisodes, type Episode, normaliseSpan } from '@homeground/sdk/trace'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment, HarnessSettings } from '../../../replay/environment/types.ts'
import { verifyEnvironment } from '../../../replay/environment/verify.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Rollout } from '../../../replay/run/types.ts'
// @ts-expect-error: a compiled product has no types here
import { agent, exporter, hg, useModel } from '../support/threaded-product.mjs'

const product = fileURLToPath(new URL('../support/threaded-product.mjs', import.meta.url))
let server: ModelServer
let elsewhere: http.Server
let visits = 0
let folder: string
let environment: Environment | undefined

beforeAll(async () => {
  server = await startModelServer({
    policy: ({ body }) => {
      const messages = body['messages'] as { role: string; content: string }[]
      return messages.at(-1)?.role === 'tool'
        ? 'Done.'
        : { toolCalls: [{ name: 'look', arguments: { at: messages.at(-1)?.content ?? '' } }] }
    },
  })
  useModel(server.url)
  elsewhere = http.createServer((_, response) => {
    visits += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  process.env['ELSEWHERE'] = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
})
afterAll(async () => {
  await server.close()
  elsewhere.closeAllConnections()
  elsewhere.close()
  delete process.env['ELSEWHERE']
})
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-threads-'))
})
afterEach(async () => {
  delete process.env['PLANTED']
  await environment?.close()
  environment = undefined
  fs.rmSync(folder, { recursive: true, force: true })
})

async function record(...asks: string[]): Promise<Episode[]> {
  for (const ask of asks) await agent({ ask })
  await hg.flush()
  const episodes = assembleEpisodes(exporter.spans.map(normaliseSpan), [])
  exporter.reset()
  return episodes
}

async function build(episodes: Episode[], more: Partial<Extract<HarnessSettings, { kind: 'module' }>> = {}): Promise<Environment> {
  await buildEnvironment(episodes, {
    name: 'threaded',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'module', module: `${product}#agent`, timeoutMs: 20_000, ...more },
  })
  environment = await openEnvironment(path.join(folder, 'env'))
  return environment
}

async function run(name: string, options: Partial<RunOptions> = {}): Promise<Rollout[]> {
  if (environment === undefined) throw new Error('build first')
  const out = path.join(folder, name)
  await runRollouts(environment, {
    arms: [{ name: 'a', model: 'other', url: server.url }],
    folder: out,
    homeground: '0.1.0',
    threads: 2,
    ...options,
  })
  const lines: Rollout[] = []
  for await (const line of (await openRun(out)).rollouts()) lines.push(line)
  return lines
}

const planted = (...faults: string[]) => {
  process.env['PLANTED'] = faults.join(' ')
}

describe('the product in worker threads', { timeout: 120_000 }, () => {
  test('is reproduced on another day, with the day of the recording', async () => {
    const [episode] = await record('one')
    if (episode === undefined) throw new Error('nothing recorded')
    // As if recorded long ago.
    const old = JSON.parse(JSON.stringify(episode).replaceAll(episode.startedAt.slice(0, 10), '2024-02-29'))
    const report = await verifyEnvironment(await build([old]))
    expect(report.divergences).toEqual([])
  })

  test('is reproduced where it answers with its trace id, for feedback that comes later', async () => {
    planted('trace')
    const [episode] = await record('one')
    expect(episode?.output).toEqual({ text: 'Done.', trace: episode?.trace })
    const report = await verifyEnvironment(await build([episode as Episode]))
    expect(report.divergences).toEqual([])
  })

  test('needs no key of a vendor, and its stand-in goes to no endpoint', async () => {
    const keys = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY']
    const kept = keys.map((name) => process.env[name])
    try {
      for (const name of keys) delete process.env[name]
      const keyed = fileURLToPath(new URL('../support/keyed-product.mjs', import.meta.url))
      const environment = await build(await record('one'), { module: `${keyed}#agent` })
      expect((await verifyEnvironment(environment)).divergences).toEqual([])
      process.env['OPENAI_BASE_URL'] = server.url
      const before = server.requests.length
      await run('keyless', { arms: [{ name: 'a', model: 'other' }] })
      expect(server.requests.slice(before).map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
      expect(process.env['OPENAI_API_KEY']).toBe(undefined)
    } finally {
      for (const [index, name] of keys.entries()) {
        if (kept[index] === undefined) delete process.env[name]
        else process.env[name] = kept[index]
      }
    }
  })

  test('asks an endpoint no oftener at once than its arm allows, from all threads together, and waits without losing its time', async () => {
    await build(await record('one', 'two', 'three', 'four', 'five', 'six'), { timeoutMs: 1_500 })
    let inside = 0
    let most = 0
    const slow = await startModelServer({
      policy: async () => {
        inside += 1
        most = Math.max(most, inside)
        await new Promise((resolve) => setTimeout(resolve, 300))
        inside -= 1
        return 'Done.'
      },
    })
    try {
      const arms = [{ name: 'a', model: 'other', url: slow.url, concurrency: 1 }]
      const rollouts = await run('limited', { arms, concurrency: 6 })
      // Six in a row take longer than one has: waiting for its turn is not its own time.
      expect(rollouts.map(({ stop }) => stop)).toEqual(new Array(6).fill('done'))
      expect(most).toBe(1)
    } finally {
      await slow.close()
    }
  })

  test('ends after as many model calls as it may make, and is scored as it stands', async () => {
    await build(await record('one'), { maxSteps: 1 })
    const asked = server.requests.length
    const [rollout] = await run('short')
    expect(rollout).toMatchObject({ stop: 'max-steps' })
    expect([rollout?.error, server.requests.length - asked]).toEqual([undefined, 1])
  })

  test('keeps the token ids that an endpoint gives', async () => {
    await build(await record('one'))
    const chat = await startModelServer({
      policy: () => ({
        status: 200,
        body: {
          id: 'r1',
          model: 'm',
          prompt_token_ids: [1, 2],
          choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop', token_ids: [3] }],
        },
      }),
    })
    try {
      await run('tokens', { arms: [{ name: 'a', model: 'other', url: chat.url }] })
      const tokens: unknown[] = []
      for await (const { steps } of (await openRun(path.join(folder, 'tokens'))).episodes())
        for (const step of steps) if (step.kind === 'model') tokens.push(step.tokens)
      expect(tokens).toEqual([{ promptIds: [1, 2], completionIds: [3] }])
    } finally {
      await chat.close()
    }
  })

  test.each([
    ['clock', 'unwrapped-clock'],
    ['dice', 'unwrapped-random'],
  ])('has an unwrapped %s named', async (fault, cause) => {
    planted(fault)
    const report = await verifyEnvironment(await build(await record('one')))
    expect(report.divergences).toMatchObject([{ step: 1, path: 'request.messages[0].parts[0].content', cause }])
  })

  test('has a recording that ends in mid-run named', async () => {
    const [episode] = await record('one')
    if (episode === undefined) throw new Error('nothing recorded')
    const tool = episode.steps.findIndex((step) => step.kind === 'tool')
    const { output: _, ...cut } = { ...episode, steps: episode.steps.slice(0, tool + 1) }
    const report = await verifyEnvironment(await build([cut]))
    expect(report.divergences).toMatchObject([{ step: tool + 2, what: 'model call', cause: 'cut-recording' }])
  })

  test.each([
    ['fetch', /GET http:\/\/127\.0\.0\.1:\d+\/profile/],
    ['http', /127\.0\.0\.1:\d+/],
    ['socket', /127\.0\.0\.1:\d+/],
    ['secure', /127\.0\.0\.1:\d+/],
    ['datagram', /127\.0\.0\.1:\d+ \(UDP\)/],
    ['embed', /POST http:\/\/127\.0\.0\.1:\d+\/v1\/embeddings, which is no model call/],
  ])('is stopped where it reaches the network by %s, and told what to wrap', async (fault, target) => {
    const environment = await build(await record('one'))
    planted(fault)
    visits = 0
    const report = await verifyEnvironment(environment)
    expect(report.divergences).toMatchObject([{ cause: 'unwrapped-network' }])
    const [rollout] = await run('run')
    expect(rollout).toMatchObject({
      score: null,
      stop: 'error',
      error: { type: 'unwrapped-network', message: expect.stringMatching(target) },
    })
    expect(rollout?.error?.message).toContain('hg.io(name, fn)')
    expect(visits).toBe(0)
  })

  test.each([
    ['spawn', /start a process of its own \(.*node -e/],
    ['promise', /start a process of its own \(.*node -e/],
    ['fork', /start a process of its own \(.*node .*--eval=/],
    ['shell', /start a process of its own \(touch "\$STARTED"\)/],
    ['sync', /start a process of its own \(.*node -e/],
    ['thread', /start a thread of its own \(require/],
  ])('is stopped where it starts a process or thread of its own by %s, unless the environment allows it', async (how, what) => {
    const started = path.join(folder, 'started')
    process.env['STARTED'] = started
    const episodes = await record('one')
    planted(`start-${how}`)
    const environment = await build(episodes)
    const report = await verifyEnvironment(environment)
    expect(report.divergences).toMatchObject([{ cause: 'unwrapped-process' }])
    const [rollout] = await run('run')
    expect(rollout).toMatchObject({
      score: null,
      stop: 'error',
      error: { type: 'unwrapped-process', message: expect.stringMatching(what) },
    })
    expect(rollout?.error?.message).toContain('hg.io(name, fn)')
    expect(fs.existsSync(started)).toBe(false)
    await environment.close()
    expect(await verifyEnvironment(await build(episodes, { allowProcesses: true }))).toMatchObject({ share: 1 })
    expect(fs.existsSync(started)).toBe(true)
  })

  test('is not reproduced where it is stopped in what it does not wait for', async () => {
    const environment = await build(await record('one'))
    planted('forget')
    visits = 0
    expect(await verifyEnvironment(environment)).toMatchObject({ share: 0, divergences: [{ cause: 'unwrapped-network' }] })
    expect(visits).toBe(0)
  })

  test.each([
    ['kill', 'unwrapped-process', /send SIGTERM to process \d+/],
    ['group', 'unwrapped-process', /send SIGKILL to process 0/],
    ['abort', 'TypeError', /abort/],
  ])('that would end the whole process (%s) is one failed rollout, whatever is allowed', async (fault, type, message) => {
    await build(await record('one', 'crash here', 'two'), { allowProcesses: true })
    planted(fault)
    const lines = await run('run', { concurrency: 3, threads: 1 })
    expect(lines.map((line) => [line.stop, line.error?.type])).toEqual([
      ['done', undefined],
      ['error', type],
      ['done', undefined],
    ])
    expect(lines[1]?.error?.message).toMatch(message)
  })

  test.each([
    ['model', /starts-at-load\.mjs calls a model \(POST http:.*\) while it is being loaded/],
    ['tool', /starts-at-load\.mjs calls the tool book while it is being loaded/],
  ])('that runs its agent while it is loaded is refused before its %s is called', async (fault, message) => {
    const starting = fileURLToPath(new URL('../support/starts-at-load.mjs', import.meta.url))
    const ledger = path.join(folder, 'ledger')
    process.env['LEDGER'] = ledger
    planted(fault)
    visits = 0
    await expect(verifyEnvironment(await build(await record('one'), { module: `${starting}#agent` }))).rejects.toMatchObject({
      code: 'invalid-settings',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('export the agent from a file that starts nothing'),
    })
    expect({ visits, booked: fs.existsSync(ledger) }).toEqual({ visits: 0, booked: false })
  })

  test('may reach a host that the environment allows', async () => {
    planted('fetch', 'http', 'datagram')
    const report = await verifyEnvironment(await build(await record('one'), { allowNetwork: ['127.0.0.1'] }))
    expect(report).toMatchObject({ share: 1 })
  })

  test('sleeps on its own clock: minutes take no time, and are the same every time', async () => {
    const environment = await build(await record('one', 'two', 'three', 'four'))
    planted('sleep', 'dice', 'race')
    const started = Date.now()
    const first = await run('one', { concurrency: 1 })
    await run('again', { concurrency: 1 })
    await run('eight', { concurrency: 8 })
    await run('other', { concurrency: 1, seed: 1 })
    expect(Date.now() - started).toBeLessThan(60_000)
    expect(first.map((line) => line.error)).toEqual([undefined, undefined, undefined, undefined])
    const read = (name: string, file: string) => fs.readFileSync(path.join(folder, name, file), 'utf8')
    const untimed = (text: string) => text.replace(/"durationMs":[\d.]+/g, '')
    expect(untimed(read('again', 'rollouts.jsonl'))).toBe(untimed(read('one', 'rollouts.jsonl')))
    expect(untimed(read('eight', 'rollouts.jsonl'))).toBe(untimed(read('one', 'rollouts.jsonl')))
    const prompts = (name: string) => read(name, 'episodes.jsonl').match(/Today is[^"]*/g)
    expect(prompts('again')).toEqual(prompts('one'))
    expect(prompts('eight')).toEqual(prompts('one'))
    expect(prompts('other')).not.toEqual(prompts('one'))
    expect(prompts('one')?.[0]).toMatch(/^Today is \d{4}-\d\d-\d\d\. Ticket [0-9a-f-]{36}, [0-9a-f-]{36}, 0\.\d+\. Slept 900\d\d\. fast$/)
    expect(environment.size).toBe(4)
  })

  test('that returns what goes in circles has no output; one that throws what cannot be looked at is one failed rollout', async () => {
    await build(await record('one', 'crash here', 'two'))
    planted('circle')
    expect((await run('circle', { threads: 1 })).map(({ stop }) => stop)).toEqual(['done', 'done', 'done'])
    planted('trap')
    expect((await run('trap', { threads: 1 })).map((line) => [line.stop, line.score === null, line.error?.type])).toEqual([
      ['done', false, undefined],
      ['error', true, 'crash'],
      ['done', false, undefined],
    ])
  })

  test.each(['crash', 'stray', 'spin'])(
    'that takes its thread down (%s) is one failed rollout; its neighbours are played',
    async (fault) => {
      await build(await record('one', 'crash here', 'two'), { timeoutMs: 2_000 })
      planted(fault)
      const lines = await run('run', { concurrency: 3, threads: 1 })
      expect(lines.map((line) => [line.stop, line.error?.type])).toEqual([
        ['done', undefined],
        fault === 'spin' ? ['timeout', 'timeout'] : ['error', 'crash'],
        ['done', undefined],
      ])
    },
  )
})
