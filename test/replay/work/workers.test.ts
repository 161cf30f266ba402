// `homeground run --workers` with workers in processes of their own, over a real broker: what stands at the end is what one process gives, whoever was killed in between.
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ModelServer } from '@homeground/sdk/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../support/command.ts'
import { kafkaIsMissing, useKafka } from '../../support/kafka.ts'
import { until } from '../../support/until.ts'
import { buildThings, startThingsModel } from '../support/things.ts'

let folder: string
let server: ModelServer
let topic: string
const running = new Set<ChildProcess>()

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-workers-'))
  await buildThings(path.join(folder, 'env'), 12)
  await buildThings(path.join(folder, 'other'), 2)
  fs.writeFileSync(path.join(folder, 'prices.json'), JSON.stringify({ one: { input: 1, output: 1 }, two: { input: 1, output: 1 } }))
  server = await startThingsModel({ delayMs: 40 })
})
afterAll(async () => {
  await server.close()
  fs.rmSync(folder, { recursive: true, force: true })
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})

interface Started {
  child: ChildProcess
  ended: Promise<number | string | null>
  output: { stdout: string; stderr: string }
}

describe.skipIf(kafkaIsMissing)('rollouts handed out over Kafka', { timeout: 240_000 }, () => {
  const broker = useKafka()
  beforeEach(() => {
    topic = broker.name('rows')
  })

  function start(args: readonly string[], env: Record<string, string> = {}): Started {
    const child = spawn(process.execPath, [commandLine, ...args], {
      cwd: folder,
      env: {
        ...process.env,
        HOMEGROUND_KAFKA_BROKERS: broker.address,
        HOMEGROUND_KAFKA_TOPIC: topic,
        HOMEGROUND_KAFKA_SESSION_SECONDS: '6',
        HOMEGROUND_PRICES: path.join(folder, 'prices.json'),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    const output = { stdout: '', stderr: '' }
    child.stdout?.on('data', (chunk) => {
      output.stdout += String(chunk)
    })
    child.stderr?.on('data', (chunk) => {
      output.stderr += String(chunk)
    })
    const ended = new Promise<number | string | null>((resolve) =>
      child.once('close', (code, signal) => {
        running.delete(child)
        resolve(signal ?? code)
      }),
    )
    return { child, ended, output }
  }
  const worker = (...args: string[]) => start(['worker', '--concurrency', '2', ...args])
  const run = (out: string, ...args: string[]) =>
    start([
      'run',
      'env',
      '--arm',
      'a=one',
      '--arm',
      'b=two',
      '--url',
      server.url,
      '--repeats',
      '2',
      '--seed',
      '7',
      '--id',
      'it',
      '--out',
      out,
      ...args,
    ])
  const asked = async (count: number) => {
    const before = server.requests.length
    await until(
      () => server.requests.length >= before + count,
      () => `${server.requests.length - before} of ${count} requests`,
      60_000,
    )
  }

  const file = (out: string, name: string) => fs.readFileSync(path.join(folder, out, name), 'utf8')
  const rollouts = (out: string) => file(out, 'rollouts.jsonl').replace(/"durationMs":[\d.]+/g, '"durationMs":0')
  const episodeIds = (out: string) =>
    file(out, 'episodes.jsonl')
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line).id)
  const plays = (workers: readonly Started[]) =>
    workers.map(({ output }) =>
      output.stderr.split('\n').flatMap((line) => (line.includes('"msg":"played"') ? [(JSON.parse(line) as { index: number }).index] : [])),
    )

  test('two workers play what one process plays, each rollout once, and stop when told', async () => {
    expect(await run('here').ended).toBe(0)
    const workers = [worker('--env', 'other', 'env'), worker('--env', 'env')]
    const handed = run('handed', '--workers')
    expect(await handed.ended, handed.output.stderr).toBe(0)
    expect(rollouts('handed')).toBe(rollouts('here'))
    expect(episodeIds('handed')).toEqual(episodeIds('here'))
    for (const { child } of workers) child.kill('SIGTERM')
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0])
    expect(new Set(plays(workers).flat()).size).toBe(48)
  })

  test('what a worker was playing when it was killed is played by another, and counted once', async () => {
    const doomed = worker()
    await until(
      () => doomed.output.stdout !== '',
      () => doomed.output.stderr,
      30_000,
    )
    const handed = run('killed-worker', '--workers', '--json')
    await asked(7)
    doomed.child.kill('SIGKILL')
    expect(await doomed.ended).toBe('SIGKILL')
    const heir = worker()
    expect(await handed.ended, handed.output.stderr).toBe(0)
    expect(JSON.parse(handed.output.stdout)).toMatchObject({ planned: 48, done: 48 })
    expect(rollouts('killed-worker')).toBe(rollouts('here'))
    expect(episodeIds('killed-worker')).toEqual(episodeIds('here'))
    const [first = [], second = []] = plays([doomed, heir])
    expect(first.length).toBeGreaterThan(0)
    expect(second.length).toBeLessThan(48)
    heir.child.kill('SIGTERM')
    expect(await heir.ended).toBe(0)
  })

  test('a run that is killed gathers, when it goes on, what was played without it', async () => {
    const alone = worker()
    const killed = run('killed-run', '--workers', '--concurrency', '12')
    await asked(10)
    killed.child.kill('SIGKILL')
    await killed.ended
    // The worker ends what it was handed: nobody gathers it.
    let quietSince = performance.now()
    let before = server.requests.length
    await until(
      () => {
        if (server.requests.length !== before) quietSince = performance.now()
        before = server.requests.length
        return performance.now() - quietSince > 1_000
      },
      () => 'the worker plays on',
      60_000,
    )
    const kept = file('killed-run', 'rollouts.jsonl').trim().split('\n').length
    const played = plays([alone]).flat().length
    expect(played).toBeGreaterThan(kept)
    const on = run('killed-run', '--workers', '--concurrency', '12')
    expect(await on.ended, on.output.stderr).toBe(0)
    expect(rollouts('killed-run')).toBe(rollouts('here'))
    const indices = plays([alone]).flat()
    expect([indices.length, new Set(indices).size]).toEqual([48, 48])
  })

  test("an arm's key is the worker's own: one without it is named, nothing is counted, and the run goes on when it is mended", async () => {
    const stranger = worker('--name', 'stranger')
    const keyed = ['--workers', '--api-key-env', 'ARM_KEY']
    const refused = start(['run', 'env', '--arm', 'a=one', '--url', server.url, '--id', 'keyed', '--out', 'keyed', ...keyed], {
      ARM_KEY: 'a-secret-of-ours',
    })
    expect(await refused.ended, refused.output.stderr).toBe(2)
    expect(refused.output.stderr).toContain('worker stranger cannot play this run: arm a: the environment variable ARM_KEY is not set')
    expect(fs.existsSync(path.join(folder, 'keyed'))).toBe(false)
    stranger.child.kill('SIGTERM')
    await stranger.ended
    const equipped = start(['worker'], { ARM_KEY: 'a-secret-of-ours' })
    const again = start(['run', 'env', '--arm', 'a=one', '--url', server.url, '--id', 'keyed', '--out', 'keyed', ...keyed], {
      ARM_KEY: 'a-secret-of-ours',
    })
    expect(await again.ended).toBe(0)
    expect(file('keyed', 'rollouts.jsonl').trim().split('\n').length).toBe(12)
    expect(stranger.output.stderr + equipped.output.stderr + again.output.stderr).not.toContain('a-secret-of-ours')
    equipped.child.kill('SIGTERM')
    await equipped.ended
  })

  test('stops handing out when the money is spent, and goes on with more', async () => {
    const alone = worker()
    const poor = run('poor', '--workers', '--concurrency', '2', '--max-cost', '0.0001', '--json')
    expect(await poor.ended, poor.output.stderr).toBe(1)
    const { done, planned, stopped } = JSON.parse(poor.output.stdout)
    expect([planned, stopped]).toEqual([48, 'max-cost'])
    expect(done).toBeLessThan(48)
    expect(done).toBeGreaterThan(0)
    expect(await run('poor', '--workers', '--max-cost', '1').ended).toBe(0)
    expect(rollouts('poor')).toBe(rollouts('here'))
    alone.child.kill('SIGTERM')
    await alone.ended
  })
})
