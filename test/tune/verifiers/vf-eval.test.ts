// The package is run by verifiers itself: `vf-eval` plays the game through our runner, and its record holds our score.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCrowd } from '../../../examples/wordle-mini/offline/crowd.ts'
import { homegroundCommand } from '../../support/command.ts'
import { projectRoot } from '../../support/project-files.ts'
import { python, pythonIsMissing } from '../../support/python.ts'
import { missing } from '../../support/require.ts'

const vfEval = path.join(path.dirname(python), 'vf-eval')
const verifiersIsMissing =
  pythonIsMissing ||
  missing('verifiers', fs.existsSync(vfEval) ? undefined : 'verifiers is not installed; homeground tune setup --with interop')

const environment = path.join(projectRoot, 'examples', 'wordle-mini', 'env')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-verifiers-'))
const packaged = path.join(folder, 'package')
let crowd: ModelServer

interface Recorded {
  ok: boolean
  errors: { type: string; message: string }[]
  traces: {
    task: { key: string; data: { split: string } }
    rewards: Record<string, { score: number; weight: number } | null>
    metrics: Record<string, number>
    info: { homeground?: { score: number } }
    nodes: { message: { role: string }; sampled: boolean }[]
  }[]
}

/** Episodes that `vf-eval` recorded, by the model asked. */
async function evaluate(name: string, model: string, url: string): Promise<Recorded[]> {
  const out = path.join(folder, name)
  const given = ['homeground-wordle-mini', '-n', '2', '-r', '2', '--env.agent.runtime.type', 'subprocess', '--model', model]
  const client = ['--client.base-url', url, '--client.api-key-var', 'NO_KEY', '--no-push', '--no-rich', '--run.dir', 'run', '-o', out]
  const child = spawn(vfEval, [...given, ...client], {
    env: { ...process.env, NO_KEY: 'none', PYTHONPATH: packaged },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)))
  await new Promise((resolve) => child.once('close', resolve))
  const file = path.join(out, 'run', 'traces.jsonl')
  if (!fs.existsSync(file)) throw new Error(`vf-eval wrote no traces: ${said.slice(-3000)}`)
  return fs
    .readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function pythonSays(file: string, ...given: string[]): Promise<unknown> {
  const child = spawn(python, [path.join(import.meta.dirname, file), ...given], {
    env: { ...process.env, PYTHONPATH: packaged },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += String(chunk)))
  await new Promise((resolve) => child.once('close', resolve))
  return JSON.parse(said)
}

describe.skipIf(verifiersIsMissing)('a verifiers package', () => {
  beforeAll(async () => {
    crowd = await startCrowd({ seed: 7 })
    const arm = ['--arm', 'crowd=crowd', '--url', crowd.url, '--split', 'train', '--limit', '6', '--concurrency', '1']
    const played = await homegroundCommand(['run', environment, ...arm, '--out', path.join(folder, 'run')])
    expect(played.code, played.stderr).toBe(0)
    const written = await homegroundCommand(['--json', 'dataset', path.join(folder, 'run'), '--format', 'verifiers', '--out', packaged])
    expect(written.code, written.stderr).toBe(0)
  }, 120_000)
  afterAll(async () => {
    await crowd?.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  it("plays the environment's tasks through our runner, and its reward is our score", { timeout: 180_000 }, async () => {
    const episodes = await evaluate('thinker', 'thinker', crowd.url)
    expect(episodes.map(({ ok, errors }) => ({ ok, errors }))).toEqual(Array(4).fill({ ok: true, errors: [] }))
    const traces = episodes.flatMap((episode) => episode.traces)
    expect(traces.map(({ task }) => [task.key, task.data.split]).sort()).toEqual([
      ['train-art', 'train'],
      ['train-art', 'train'],
      ['train-rat', 'train'],
      ['train-rat', 'train'],
    ])
    // Who thinks finds the word; the word that it opens with at once.
    expect(traces.map(({ rewards, metrics }) => ({ rewards, metrics }))).toEqual(
      Array(4).fill({ rewards: { rubric: { score: 1, weight: 1 } }, metrics: { 'criterion/solved': 1, 'criterion/fair': 1 } }),
    )
    const guesses = traces.map(({ nodes }) => nodes.filter(({ sampled }) => sampled).length).sort()
    expect(guesses).toEqual([1, 1, 2, 2])
  })

  it('records a rollout that could not be played as an error, and not as a reward of 0', { timeout: 180_000 }, async () => {
    const broken = await startModelServer({ policy: () => ({ status: 400, body: { error: { message: 'no such model' } } }) })
    try {
      const episodes = await evaluate('broken', 'thinker', broken.url)
      expect(episodes.map(({ ok, traces }) => [ok, traces.map(({ rewards }) => rewards['rubric'] ?? null)])).toEqual(
        Array(4).fill([false, [null]]),
      )
    } finally {
      await broken.close()
    }
  })

  it('carries the episodes as verifiers reads them, and settings that its configuration takes', { timeout: 120_000 }, async () => {
    const rollouts = fs
      .readFileSync(path.join(folder, 'run', 'rollouts.jsonl'), 'utf8')
      .trim()
      .split('\n')
    const scores = new Map(rollouts.map((line) => JSON.parse(line)).map(({ task, score }) => [task, score]))
    const uploads = fs.readFileSync(path.join(packaged, 'openai.jsonl'), 'utf8').trim().split('\n')
    const said = await pythonSays('read-package.py', packaged)
    expect(said).toEqual({
      episodes: expect.arrayContaining([
        { key: 'train-rat', reward: scores.get('train-rat'), branches: 1, roles: expect.arrayContaining(['system', 'user', 'assistant']) },
      ]),
      count: uploads.length,
      source: { taskset: 'homeground-wordle-mini', harness: 'homeground-wordle-mini', runtime: 'subprocess' },
    })
  })
})
