// The seam across copies of the SDK in one process, and across processes. These run dist/, as users do.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type SeamModelRequest, type SeamToolCall, serveSeam, withSeam } from '@homeground/sdk/seam'
import type { SpanRecord } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
let folder = ''

/** A copy of the built SDK, as a second version in a dependency's node_modules would be. */
function copySdk(name: string): string {
  const copy = path.join(folder, 'node_modules', name)
  fs.cpSync(path.join(root, 'sdk/dist'), path.join(copy, 'dist'), { recursive: true })
  fs.copyFileSync(path.join(root, 'sdk/package.json'), path.join(copy, 'package.json'))
  return pathToFileURL(path.join(copy, 'dist/index.js')).href
}

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-copies-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('two copies of the SDK in one process', () => {
  it('share one seam: a tool of either is answered by the tape, and nests under the other’s agent', async () => {
    const one: typeof import('@homeground/sdk') = await import(copySdk('sdk-one'))
    const two: typeof import('@homeground/sdk') = await import(copySdk('sdk-two'))
    expect(one.homeground).not.toBe(two.homeground)
    const exporter = { export: () => undefined }
    const first = one.homeground({ project: 'one', exporter })
    const second = two.homeground({ project: 'two', exporter })
    const live: string[] = []
    const tool = second.tool({ name: 'pay', parameters: {}, effect: 'write', execute: async () => void live.push('paid') })
    const agent = first.agent('desk', async () => await tool.execute({ amount: 5 }))
    const spans: SpanRecord[] = []
    const seam = { tool: async (call: SeamToolCall) => `tape: ${call.name} in ${call.agents.join('/')}` }
    const result = await withSeam({ seam, state: { attributes: {}, record: (span) => void spans.push(span) } }, () => agent())
    expect(result).toBe('tape: pay in desk')
    expect(live).toEqual([])
    expect(spans.map(({ name }) => name)).toEqual(['execute_tool pay', 'invoke_agent desk'])
    expect(spans[0]?.parentSpanId).toBe(spans[1]?.spanId)
    await first.shutdown()
    await second.shutdown()
  })
})

/** Runs a product that uses the SDK in a process of its own; gives what it printed. */
async function product(
  program: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; printed: string; said: string }> {
  const file = path.join(folder, `product-${Math.random().toString(36).slice(2)}.mjs`)
  fs.writeFileSync(file, program)
  const child = spawn(process.execPath, [file], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let said = ''
  child.stdout.on('data', (data) => (printed += data))
  child.stderr.on('data', (data) => (said += data))
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, printed, said }
}

const productSource = () => `
  import { homeground } from ${JSON.stringify(copySdk('sdk-product'))}
  const hg = homeground({ project: 'shop', endpoint: 'http://127.0.0.1:9' })
  const pay = hg.tool({ name: 'pay', parameters: {}, effect: 'write', execute: async ({ amount }) => ({ live: amount }) })
  const fail = hg.tool({ name: 'fail', parameters: {}, execute: async () => 1 })
  const agent = hg.agent('desk', async (question) => {
    const response = await hg.fetch('http://model.invalid/v1/chat/completions', { method: 'POST', headers: { authorization: 'Bearer sk-1' }, body: JSON.stringify({ model: hg.variant('model', 'small'), messages: [{ role: 'user', content: question }] }) })
    const answer = await response.json()
    const failure = await fail.execute({}).catch((error) => [error.name, error.message])
    return { answer: answer.choices[0].message.content, paid: await pay.execute({ amount: 5 }), failure, profile: await hg.io('profile', () => 'live'), at: hg.now(), dice: hg.random() }
  })
  console.log(JSON.stringify(await agent('Where?')))
  await hg.flush()`

describe('a product in a process of its own', () => {
  it('runs inside the replay that its environment names: model, tools (taped, live, failing), reads, variants, clock and dice', async () => {
    const spans: SpanRecord[] = []
    const asked: unknown[] = []
    const replay = {
      seam: {
        model: async ({ url, headers, body, agents }: SeamModelRequest) => {
          asked.push([url, headers.get('authorization'), JSON.parse(body ?? '').model, agents])
          return Response.json({
            id: 'r1',
            choices: [{ index: 0, message: { role: 'assistant', content: 'Replayed.' }, finish_reason: 'stop' }],
          })
        },
        tool: async (call: SeamToolCall) => {
          if (call.name === 'pay') return await call.live()
          call.offTape = 'error'
          throw new RangeError('no such entry')
        },
        io: async () => ({ taped: true }),
        variant: (name: string) => (name === 'model' ? 'big' : undefined),
        now: () => 1234,
        random: () => 0.5,
      },
      state: { attributes: { 'homeground.replay.arm': 'b' }, traceId: 'c'.repeat(32), record: (span: SpanRecord) => void spans.push(span) },
    }
    const remote = await serveSeam(replay)
    const ended = await product(productSource(), remote.environment)
    await remote.greeted
    await remote.close()
    expect(ended.said).toBe('')
    expect(JSON.parse(ended.printed)).toEqual({
      answer: 'Replayed.',
      paid: { live: 5 },
      failure: ['RangeError', 'no such entry'],
      profile: { taped: true },
      at: 1234,
      dice: 0.5,
    })
    expect(asked).toEqual([['http://model.invalid/v1/chat/completions', 'Bearer sk-1', 'big', ['desk']]])
    const names = ['chat big', 'execute_tool fail', 'execute_tool pay', 'io profile', 'io now', 'io random', 'invoke_agent desk']
    expect(spans.map(({ name, traceId, attributes }) => [name, traceId, attributes['homeground.replay.arm']])).toEqual(
      names.map((name) => [name, 'c'.repeat(32), 'b']),
    )
    expect(spans[1]?.attributes['homeground.replay.off_tape']).toBe('error')
    expect(typeof spans[0]?.startTimeUnixNano).toBe('bigint')
  })

  it('runs no frame for a client with a fetch of its own, unless that may call another recording one', async () => {
    const ended = await product(
      `
      import { homeground } from ${JSON.stringify(copySdk('sdk-frames'))}
      const hg = homeground({ project: 'shop', exporter: { export: () => undefined } })
      const storage = globalThis[Symbol.for('@homeground/sdk/seam@1')]
      const framed = []
      const client = hg.wrap({ fetch: async () => (framed.push(storage.getStore() !== undefined), Response.json({ id: 'a' })) })
      const call = () => client.fetch('http://model.invalid/v1/chat/completions', { method: 'POST', body: '{"model":"m"}' })
      await call()
      hg.fetch
      await call()
      console.log(JSON.stringify(framed))`,
      {},
    )
    expect(ended).toEqual({ code: 0, printed: '[false,true]\n', said: '' })
  })

  it('does not start where nobody answers', async () => {
    const ended = await product(productSource(), { HOMEGROUND_REPLAY_URL: 'http://127.0.0.1:9' })
    expect(ended.code).toBe(1)
    expect(ended.said).toContain('no replay answers at http://127.0.0.1:9')
  })

  it('ignores the variables in production and where it is switched off, and says that all runs for real', async () => {
    const program = productSource().replace(
      "console.log(JSON.stringify(await agent('Where?')))",
      "console.log(hg.variant('model', 'small'))",
    )
    const replay = { HOMEGROUND_REPLAY_URL: 'http://127.0.0.1:9' }
    const ended = await product(program, { ...replay, NODE_ENV: 'production' })
    expect([ended.code, ended.printed.trim()]).toEqual([0, 'small'])
    expect(ended.said).toMatch(/HOMEGROUND_REPLAY_URL is ignored where NODE_ENV is production: .* run for real\. .*allowReplay: true/)
    const off = await product(program, { ...replay, HOMEGROUND_DISABLED: 'true' })
    expect([off.code, off.printed.trim()]).toEqual([0, 'small'])
    expect(off.said).toMatch(/HOMEGROUND_REPLAY_URL is ignored by a homeground\(\) that is switched off: .* run for real\./)
  })
})
