import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startModelServer } from '@homeground/sdk/testing'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { type GateRules, type GateSide, gate, gateRulesSchema, splitHash } from '../../../tune/gate/index.ts'
import { readLedger } from '../../../tune/gate/ledger.ts'
import { episodeOf, text } from '../../replay/support/episodes.ts'
import { projectRoot } from '../../support/project-files.ts'

let folder: string

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-gate-'))
  await buildEnvironment(
    Array.from({ length: 90 }, (_, number) => capital(number)),
    {
      name: 'capitals',
      folder: path.join(folder, 'env'),
      homeground: '0.1.0',
      harness: { kind: 'loop', maxSteps: 2 },
      rubric: { criteria: [{ name: 'right', weight: 1, type: 'contains', caseSensitive: false }] },
    },
  )
})

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

function capital(number: number): Episode {
  return episodeOf(String(number), [text('user', `question ${number}`), text('assistant', `answer ${number}`)], {
    feedback: [{ name: 'expected_outputs', value: JSON.stringify([`answer ${number}`]), source: 'human', at: '2026-01-01T00:00:00.000Z' }],
  })
}

/** `wise` knows every answer, `guess` every third. */
async function withModels<T>(use: (url: string) => Promise<T>): Promise<T> {
  await using server = await startModelServer({
    policy: ({ text: body, body: { model } }) => {
      const number = Number(/question (\d+)/.exec(body)?.[1])
      return model === 'wise' || number % 3 === 0 ? `It is answer ${number}.` : 'I do not know.'
    },
  })
  return await use(server.url)
}

async function run(url: string, models: { baseline: string; candidate: string }, rules: Partial<GateRules> = {}) {
  const environment = await openEnvironment(path.join(folder, 'env'))
  const side = (model: string): GateSide => ({ model, sha256: model.padEnd(64, '0'), arm: { model, url } })
  try {
    return await gate(environment, {
      baseline: side(models.baseline),
      candidate: side(models.candidate),
      rules: { ...gateRulesSchema.parse({}), ...rules },
      folder,
      homeground: '0.1.0',
      now: () => new Date(0),
    })
  } finally {
    await environment.close()
  }
}

async function ledger() {
  const environment = await openEnvironment(path.join(folder, 'env'))
  const entries = readLedger(path.join(folder, 'gates.jsonl'), await splitHash(environment, 'test'))
  await environment.close()
  return entries
}

describe('gate', () => {
  it('promotes the better model on the held-out tasks alone, and writes down all that it rests on', async () => {
    const { promotion, record, warnings } = await withModels((url) => run(url, { baseline: 'guess', candidate: 'wise' }))
    expect(JSON.parse(fs.readFileSync(record, 'utf8'))).toEqual(promotion)
    expect(warnings).toEqual([])
    expect(promotion).toMatchObject({
      promoted: true,
      verdict: 'better',
      split: 'test',
      gate: 1,
      interval: { level: 0.975 },
      candidate: { model: 'wise', score: 1 },
    })
    const played = fs.readFileSync(path.join(promotion.run, 'rollouts.jsonl'), 'utf8').trim().split('\n')
    const environment = await openEnvironment(path.join(folder, 'env'))
    expect(played.length).toBe((environment.file.counts['test'] ?? 0) * 2)
    await environment.close()
    expect(fs.existsSync(path.join(promotion.run, 'report.html'))).toBe(true)
  })

  it('counts each look at a split once, before it is taken, and says when the split is worn out', async () => {
    await withModels(async (url) => {
      await run(url, { baseline: 'guess', candidate: 'wise' })
      await run(url, { baseline: 'guess', candidate: 'wise' })
      expect((await ledger()).map((entry) => [entry.gate, entry.promoted])).toEqual([[1, true]])
      for (let seed = 2; seed <= 6; seed += 1) {
        const { promotion, warnings } = await run(url, { baseline: 'guess', candidate: 'wise' }, { errorShare: (seed + 10) / 100 })
        expect([promotion.gate, promotion.interval.level, warnings.length]).toEqual([seed, 1 - 0.05 / 2 ** seed, seed < 6 ? 0 : 1])
      }
    })
    await expect(run('http://127.0.0.1:9/v1', { baseline: 'a', candidate: 'b' }, { repeats: 0 })).rejects.toThrow()
    expect((await ledger()).at(-1)).toMatchObject({ gate: 7, baseline: 'a' })
    expect((await ledger()).at(-1)?.promoted).toBeUndefined()
  })
})

describe('homeground gate', () => {
  const command = path.join(projectRoot, 'dist', 'cli', 'main.js')
  const homeground = (...given: string[]) =>
    spawnSync(process.execPath, [command, 'gate', 'env', ...given], { cwd: folder, encoding: 'utf8' })

  it('refuses what it cannot reach, and rules that it does not know, with exit code 2', () => {
    const models = ['--baseline', 'guess', '--candidate', 'wise']
    const nowhere = homeground(...models)
    expect([nowhere.status, nowhere.stderr.includes('--url')]).toEqual([2, true])
    fs.writeFileSync(path.join(folder, 'gate.json'), JSON.stringify({ minimalGian: 0.1 }))
    const wrong = homeground(...models, '--url', 'http://127.0.0.1:9/v1', '--rules', 'gate.json')
    expect([wrong.status, wrong.stderr.includes('minimalGian')]).toEqual([2, true])
    const missing = homeground(...models, '--url', 'http://127.0.0.1:9/v1', '--rules', 'none.json')
    expect([missing.status, missing.stderr.includes('none.json')]).toEqual([2, true])
    // It was played to its end, looked at, and then said no.
    fs.writeFileSync(path.join(folder, 'gate.json'), JSON.stringify({ nonInferior: { rihgt: { margin: 0.1 } } }))
    const criterion = homeground(...models, '--url', 'http://127.0.0.1:9/v1', '--rules', 'gate.json')
    expect([criterion.status, criterion.stderr.includes('nonInferior: the rubric has no criterion rihgt')]).toEqual([2, true])
    expect(fs.existsSync(path.join(folder, '.homeground', 'gates.jsonl'))).toBe(false)
  })

  it('reads the ledger before a model is started', () => {
    fs.mkdirSync(path.join(folder, '.homeground'))
    fs.writeFileSync(path.join(folder, '.homeground', 'gates.jsonl'), '{"at":"by hand","id":1}\n')
    // A folder that is none of a model: what would serve it is never asked.
    const ended = homeground('--baseline', 'env', '--candidate', 'env')
    expect([ended.status, ended.stderr.includes('gates.jsonl:1: not a line of the ledger of gates')]).toEqual([2, true])
  })
})
