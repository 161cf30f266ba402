// Programs in processes of their own: with the SDK (remote seam), and without it (gateway, tools by POST or MCP).
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { type Episode, isProcessAlive } from '@homeground/sdk/trace'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { verifyEnvironment } from '../../../replay/environment/verify.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { type RunOptions, runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { calls, episodeOf, result, text, toolSpan } from '../support/episodes.ts'

const program = (name: string) => fileURLToPath(new URL(`../support/${name}.mjs`, import.meta.url))
let server: ModelServer
let folder: string
let environment: Environment | undefined

beforeAll(async () => {
  server = await startModelServer({
    policy: ({ body }) => {
      const last = (body['messages'] as { role: string; content: string }[]).at(-1)
      return last?.role === 'tool'
        ? `Saw: ${last.content}`
        : { toolCalls: [{ id: 'c1', name: 'look', arguments: { at: last?.content ?? '' } }] }
    },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-command-'))
})
afterEach(async () => {
  await environment?.close()
  environment = undefined
  fs.rmSync(folder, { recursive: true, force: true })
})

const looked = episodeOf(
  'looked',
  [
    text('system', 'You look.'),
    text('user', 'moon'),
    calls({ id: 'c1', name: 'look', arguments: { at: 'moon' } }),
    result('c1', 'bright'),
    text('assistant', 'Saw: bright'),
  ],
  {
    tools: [toolSpan('look', { at: 'moon' }, 7, { callId: 'c1', result: 'bright' })],
    input: { ask: 'moon' },
    output: { answer: 'Saw: bright' },
  },
)

async function build(episode: Episode, command: string[], env: Record<string, string> = {}, timeoutMs = 60_000): Promise<Environment> {
  await buildEnvironment([episode], {
    name: 'looker',
    folder: path.join(folder, 'env'),
    homeground: '0.1.0',
    harness: { kind: 'command', command, env, timeoutMs },
  })
  environment = await openEnvironment(path.join(folder, 'env'))
  return environment
}

async function run(options: Partial<RunOptions> = {}): Promise<{ lines: Rollout[]; episodes: Episode[] }> {
  if (environment === undefined) throw new Error('build first')
  const out = path.join(folder, 'run')
  await runRollouts(environment, { arms: [{ name: 'a', model: 'other', url: server.url }], folder: out, homeground: '0.1.0', ...options })
  const opened = await openRun(out)
  const [lines, episodes]: [Rollout[], Episode[]] = [[], []]
  for await (const line of opened.rollouts()) lines.push(line)
  for await (const episode of opened.episodes()) episodes.push(episode)
  return { lines, episodes }
}

/** Where there is /proc: one that has ended and that nobody has waited for is no running one. */
function isRunning(pid = 0): boolean {
  const file = `/proc/${pid}/stat`
  return isProcessAlive(pid) && !(fs.existsSync(file) && /\) [ZX] /.test(fs.readFileSync(file, 'utf8')))
}

describe('harness command', { timeout: 120_000 }, () => {
  test.each(['post', 'mcp'])('plays a program without the SDK, its tools by %s, and reproduces its recording', async (WAY) => {
    const opened = await build(looked, [process.execPath, program('plain-program')], { WAY })
    const report = await verifyEnvironment(opened)
    expect(report.divergences).toEqual([])
    const { lines, episodes } = await run()
    expect(lines).toMatchObject([{ stop: 'done', offTape: { count: 0 } }])
    expect(episodes[0]?.output).toEqual({ answer: 'Saw: bright' })
    expect(episodes[0]?.steps.map((step) => (step.kind === 'tool' ? [step.name, step.arguments, step.result] : step.kind))).toEqual([
      'model',
      ['look', { at: 'moon' }, 'bright'],
      'model',
    ])
    expect(server.requests.at(-1)?.body['model']).toBe('other')
  })

  test('plays a program with the SDK over the remote seam', async () => {
    await build(looked, [process.execPath, program('sdk-program')])
    const { lines, episodes } = await run()
    expect(lines).toMatchObject([{ stop: 'done', offTape: { count: 0 }, usage: { inputTokens: expect.any(Number) } }])
    expect(episodes[0]).toMatchObject({ agent: { name: 'threaded' }, output: 'Saw: bright', source: { kind: 'rollout', arm: 'a' } })
    expect(episodes[0]?.steps.map((step) => step.kind)).toEqual(['model', 'tool', 'model'])
  })

  test('replays it also from a shell whose variables would keep the SDK out of the replay, and let its tools run for real', async () => {
    for (const [name, value] of Object.entries({ NODE_ENV: 'production', HOMEGROUND_DISABLED: 'true', OTEL_SDK_DISABLED: 'true' }))
      vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    await build(looked, [process.execPath, program('sdk-program')])
    const { lines, episodes } = await run()
    expect(lines).toMatchObject([{ stop: 'done', offTape: { count: 0 } }])
    expect(episodes[0]).toMatchObject({ agent: { name: 'threaded' }, output: 'Saw: bright' })
  })

  test('ends a program that takes too long with all that it has started, and does not wait for what has left it', async () => {
    const pids = path.join(folder, 'pids')
    const start = `
      const { spawn } = require('node:child_process')
      const sleep = (detached) => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached, stdio: 'inherit' }).pid
      require('node:fs').writeFileSync(${JSON.stringify(pids)}, JSON.stringify([sleep(false), sleep(true)]))`
    await build(looked, [process.execPath, '-e', start], {}, 3_000)
    expect((await run()).lines).toMatchObject([{ stop: 'timeout', score: null, error: { type: 'timeout' } }])
    const [inside, outside]: number[] = JSON.parse(fs.readFileSync(pids, 'utf8'))
    expect([isRunning(inside), isRunning(outside)]).toEqual([false, true])
    process.kill(outside ?? 0, 'SIGKILL')
  })

  test('ends a program that takes too long, and names one that fails or is not there', async () => {
    await build(looked, [process.execPath, '-e', 'setInterval(() => {}, 1000)'], {}, 1_000)
    expect((await run()).lines).toMatchObject([{ stop: 'timeout', score: null, error: { type: 'timeout' } }])
    fs.rmSync(path.join(folder, 'run'), { recursive: true })
    await environment?.close()
    await build(looked, [process.execPath, '-e', 'process.exit(7)'])
    expect((await run()).lines).toMatchObject([
      { stop: 'error', score: null, error: { type: 'exit', message: expect.stringContaining('exit code 7') } },
    ])
    fs.rmSync(path.join(folder, 'run'), { recursive: true })
    await environment?.close()
    await build(looked, ['no-such-program'])
    await expect(run()).rejects.toMatchObject({ code: 'not-found', message: expect.stringContaining('no-such-program cannot be started') })
  })
})
