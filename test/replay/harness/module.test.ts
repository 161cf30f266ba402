import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ModelAnswer, type ModelServer, type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import type { Episode } from '@homeground/sdk/trace'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BuildOptions, buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { verifyEnvironment } from '../../../replay/environment/verify.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { chatBody } from '../../support/chat-body.ts'
import { clerk, faults, generator, hg, ran, recorded, teller, useModel, varied, world, writer } from '../support/product.ts'

const product = fileURLToPath(new URL('../support/product.ts', import.meta.url))
let server: ModelServer
let folder: string
let environment: Environment | undefined

/** Looks the stock up, orders what is there, says so. */
function policy(request: RecordedRequest): ModelAnswer {
  const { messages } = chatBody(request)
  const ask = messages.find((message) => message.role === 'user')?.content ?? ''
  const item = /\b(kite|ghost|boat)\b/.exec(ask)?.[0] ?? 'kite'
  const answers = messages.filter((message) => message.role === 'tool')
  if (ask.startsWith('Notes on')) return 'Kites fly.'
  if (answers.length === 0) {
    const call = { name: 'stock', arguments: { item } }
    return { toolCalls: ask.includes('twice') ? [call, call] : [call] }
  }
  if (answers.at(-1)?.content?.startsWith('ordered')) return 'Done.'
  return answers[0]?.content?.startsWith('Error') ? 'We have none.' : { toolCalls: [{ name: 'order', arguments: { item } }] }
}

beforeAll(async () => {
  server = await startModelServer({ policy })
})
afterAll(() => server.close())
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-module-'))
  useModel(server.url)
})
afterEach(async () => {
  for (const key of Object.keys(faults) as (keyof typeof faults)[]) Object.assign(faults, { [key]: key === 'network' ? '' : false })
  await environment?.close()
  environment = undefined
  fs.rmSync(folder, { recursive: true, force: true })
})

const asks = ['One kite please', 'A ghost please', 'Some research, then a boat', 'Look twice, then a kite']

async function record(...given: string[]): Promise<Episode[]> {
  for (const ask of given) await clerk({ ask })
  ran.length = 0
  return await recorded()
}

async function build(episodes: Episode[], more: Partial<BuildOptions> = {}): Promise<Environment> {
  await environment?.close()
  await buildEnvironment(episodes, {
    name: 'clerk',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'module', module: `${product}#clerk`, timeoutMs: 5_000 },
    reference: 'recorded',
    ...more,
  })
  environment = await openEnvironment(path.join(folder, 'env'))
  return environment
}

async function run(options: Partial<RunOptions> = {}): Promise<Rollout[]> {
  if (environment === undefined) throw new Error('build first')
  const out = path.join(folder, 'run')
  await runRollouts(environment, {
    arms: [{ name: 'a', model: 'other', url: server.url }],
    folder: out,
    homeground: '0.1.0',
    threads: 0,
    ...options,
  })
  const lines: Rollout[] = []
  for await (const line of (await openRun(out)).rollouts()) lines.push(line)
  return lines
}

/** As a caller of the product does. */
async function read(answer: AsyncIterable<unknown> | Response): Promise<string> {
  if (answer instanceof Response) return await answer.text()
  const parts: unknown[] = []
  for await (const part of answer) parts.push(part)
  return parts.join('')
}

describe('harness module', () => {
  test("reproduces the product's own runs: tools, reads, clock, dice, errors, parallel calls and sub-agents", async () => {
    await build(await record(...asks))
    world.day = '2030-12-31'
    const report = await verifyEnvironment(await build(await record(...asks)), { threads: 0 })
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: 4, share: 1, offTape: 0 })
    expect(ran).toEqual([])
  })

  test('reproduces a product that streams', async () => {
    faults.stream = true
    const report = await verifyEnvironment(await build(await record(...asks)), { threads: 0 })
    expect(report.divergences).toEqual([])
  })

  test('plays a recorded canary with its values, and an arm without any of its own with the defaults', async () => {
    const sessions = Array.from({ length: 12 }, (_, index) => `visit-${index}`)
    for (const id of sessions) await hg.session({ id }, () => varied('Notes on kites'))
    const harness = { kind: 'module', module: `${product}#varied`, timeoutMs: 5_000 } as const
    const episodes = await recorded()
    expect(
      new Set(episodes.map(({ tags }) => JSON.stringify([tags['variant.tone'], tags['variant.limits'], tags['variant.code']]))).size,
    ).toBeGreaterThan(3)
    const report = await verifyEnvironment(await build(episodes, { harness }), { threads: 0 })
    expect(report.divergences).toEqual([])
    const before = server.requests.length
    await run({ arms: [{ name: 'plain', model: 'other', url: server.url }] })
    const asked = server.requests.slice(before).map((request) => chatBody(request).messages[0]?.content)
    expect(asked).toEqual(sessions.map(() => 'Notes on kites plain 1 7'))
  })

  test.each([
    ['a generator', 'generator', async () => await read(generator({ ask: 'Notes on kites' }))],
    ['a stream', 'writer', async () => await read(await writer({ ask: 'Notes on kites', as: 'stream' }))],
    ['a response', 'writer', async () => await read(await writer({ ask: 'Notes on kites', as: 'response' }))],
  ])('reads to its end what an agent answers with: %s', async (_, name, serve) => {
    await serve()
    const harness = { kind: 'module', module: `${product}#${name}`, timeoutMs: 5_000 } as const
    const report = await verifyEnvironment(await build(await recorded(), { harness }), { threads: 0 })
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: 1, share: 1 })
    const before = server.requests.length
    const [rollout] = await run()
    expect([rollout?.stop, server.requests.length - before]).toEqual(['done', 1])
  })

  test.each(['episode', 'session'] as const)('calls an agent of several arguments as it was called, unit %s', async (unit) => {
    const said: string[] = []
    await hg.session({ id: 'visit' }, async () => {
      await teller()
      await teller('Notes on kites')
      await teller('Notes on kites', { polite: true })
      await teller('Notes on kites', undefined, (text) => said.push(text))
      await teller('Notes on boats', { polite: true }, (text) => said.push(text))
    })
    const harness = { kind: 'module', module: `${product}#teller`, timeoutMs: 5_000 } as const
    const report = await verifyEnvironment(await build(await recorded(), { unit, harness }), { threads: 0 })
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: unit === 'episode' ? 5 : 1, share: 1 })
    expect(said).toEqual(['Kites fly.', 'Kites fly.'])
  })

  test.each([
    ['clock', 'unwrapped-clock', 'request.messages[0].parts[0].content'],
    ['random', 'unwrapped-random', 'request.messages[0].parts[0].content'],
  ] as const)('names an unwrapped %s by step and path', async (fault, cause, at) => {
    faults[fault] = true
    const report = await verifyEnvironment(await build(await record('One kite please')), { threads: 0 })
    expect(report.divergences).toMatchObject([{ step: 4, what: 'model call', path: at, cause }])
  })

  test.each([
    ['tool', 'changed-tool', 'request.tools[0].description'],
    ['code', 'changed-code', 'request.messages[0].parts[0].content'],
  ] as const)('names a changed %s by step and path', async (fault, cause, at) => {
    await build(await record('One kite please'))
    faults[fault] = true
    if (environment === undefined) throw new Error('no environment')
    const report = await verifyEnvironment(environment, { threads: 0 })
    expect(report).toMatchObject({ share: 0, divergences: [{ step: 4, what: 'model call', path: at, cause }] })
  })

  test('plays another model through the product, with its tools from the tape and its variants set', async () => {
    const prompts: string[] = []
    await build(await record('One kite please'))
    const before = server.requests.length
    const [rollout] = await run({
      arms: [{ name: 'a', model: 'other', url: server.url, parameters: { temperature: 0.5 }, variants: { prompt: 'You are Velo.' } }],
    })
    for (const request of server.requests.slice(before)) {
      const body = chatBody(request)
      expect([body.model, body.temperature]).toEqual(['other', 0.5])
      prompts.push(body.messages[0]?.content ?? '')
    }
    expect(prompts.every((prompt) => prompt.startsWith('You are Velo. Day:'))).toBe(true)
    expect(ran).toEqual([])
    expect(rollout).toMatchObject({ arm: 'a', score: 1, stop: 'done', offTape: { count: 0 }, usage: { inputTokens: expect.any(Number) } })
  })

  test("costs what the arm's model takes, not what the model would that the product asks for", async () => {
    await build(await record('One kite please'))
    const arms = ['dear', 'cheap', 'unknown'].map((model) => ({ name: model, model, url: server.url }))
    const prices = { big: { input: 9e6, output: 9e6 }, dear: { input: 2e6, output: 0 }, cheap: { input: 1e6, output: 0 } }
    const rollouts = await run({ arms, prices })
    expect(rollouts.map(({ arm, costUsd, usage }) => [arm, costUsd && costUsd / (usage.inputTokens ?? 0)])).toEqual([
      ['dear', 2],
      ['cheap', 1],
      ['unknown', undefined],
    ])
  })

  test('ends a rollout that hangs, and one whose product throws, without a score', async () => {
    await build(await record('One kite please'), { harness: { kind: 'module', module: `${product}#clerk`, timeoutMs: 200 } })
    faults.hang = true
    expect((await run())[0]).toMatchObject({
      stop: 'timeout',
      score: null,
      error: { type: 'timeout', message: expect.stringContaining('200 ms') },
    })
    faults.hang = false
    faults.throws = true
    fs.rmSync(path.join(folder, 'run'), { recursive: true })
    expect((await run())[0]).toMatchObject({ stop: 'error', score: null, error: { type: 'TypeError', message: 'the clerk is ill' } })
  })

  test('plays the turns of a session one after another, as one rollout', async () => {
    const episodes = await record('One kite please', 'Look twice, then a kite')
    const session = episodes.map((episode) => ({ ...episode, session: 's1' }))
    const report = await verifyEnvironment(await build(session, { unit: 'session' }), { threads: 0 })
    expect(report).toMatchObject({ tasks: 1, share: 1, divergences: [] })
    const [rollout] = await run()
    expect(rollout).toMatchObject({ userTurns: { served: 1, afterDivergence: 0 }, offTape: { count: 0 } })
    const [episode] = await episodesOf()
    expect(episode?.steps.filter((step) => step.kind === 'agent').map((step) => step.kind === 'agent' && step.name)).toEqual([
      'clerk',
      'clerk',
    ])
  })

  test.each([
    ['./nowhere.js#clerk', 'not-found', /cannot be loaded/],
    [`${product}#nobody`, 'invalid-settings', /exports no function named nobody; it exports .*clerk/],
  ])('names a module that is not right: %s', async (module, code, message) => {
    await build(await record('One kite please'), { harness: { kind: 'module', module, timeoutMs: 1_000 } })
    await expect(run()).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })
})

async function episodesOf(): Promise<Episode[]> {
  const episodes: Episode[] = []
  for await (const episode of (await openRun(path.join(folder, 'run'))).episodes()) episodes.push(episode)
  return episodes
}
