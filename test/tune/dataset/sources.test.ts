import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Episode, readJsonLines } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { runRollouts } from '../../../replay/run/run-rollouts.ts'
import { environmentSource, joinSources, runSource, traceSource, writeDataset } from '../../../tune/dataset/index.ts'
import type { Candidate } from '../../../tune/dataset/types.ts'
import { episodeOf, text } from '../../replay/support/episodes.ts'
import { homegroundCommand } from '../../support/command.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dataset-'))
const environmentFolder = path.join(folder, 'env')
const runFolder = path.join(folder, 'run')
const names = Array.from({ length: 30 }, (_, index) => `n${index}`)
afterAll(() => fs.rmSync(folder, { recursive: true }))

const recorded = (name: string): Episode =>
  episodeOf(name, [text('system', 'Answer.'), text('user', `What is ${name}?`), text('assistant', `It is ${name}.`)], {
    feedback: [
      { name: 'expected_output', value: `It is ${name}.`, source: 'human', at: '2026-01-05T10:00:00.000Z' },
      { name: 'reward', value: 1, source: 'human', at: '2026-01-05T10:00:00.000Z' },
    ],
  })

beforeAll(async () => {
  await buildEnvironment(names.map(recorded), {
    name: 'desk',
    folder: environmentFolder,
    homeground: '0.1.0',
    harness: { kind: 'loop', maxSteps: 4 },
    rubric: { criteria: [{ name: 'right', type: 'equals', weight: 1 }] },
  })
  const environment = await openEnvironment(environmentFolder)
  await runRollouts(environment, {
    folder: runFolder,
    homeground: '0.1.0',
    repeats: 2,
    arms: [
      { name: 'good', model: 'good', url: 'http://models.test/v1' },
      { name: 'bad', model: 'bad', url: 'http://models.test/v1' },
    ],
    deps: {
      fetch: async (_url, init) => {
        const body: { model: string; messages: { role: string; content: string }[] } = JSON.parse(String(init?.body))
        const asked = /What is (\w+)\?/.exec(body.messages.at(-1)?.content ?? '')?.[1]
        const content = body.model === 'good' ? `It is ${asked}.` : 'No idea.'
        return Response.json({
          id: 'r',
          object: 'chat.completion',
          model: body.model,
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        })
      },
    },
  })
  await environment.close()
}, 60_000)

async function all(source: { candidates(): AsyncIterable<Candidate> }): Promise<Candidate[]> {
  const found: Candidate[] = []
  for await (const candidate of source.candidates()) found.push(candidate)
  return found
}

async function values(file: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const { value } of readJsonLines(file)) found.push(value)
  return found
}

describe('the sources of a dataset', () => {
  test('name a run whose episodes are not all there: they were left out without a word', async () => {
    const cut = path.join(folder, 'cut')
    fs.cpSync(runFolder, cut, { recursive: true })
    const file = path.join(cut, 'episodes.jsonl')
    fs.truncateSync(file, fs.statSync(file).size - 50)
    const source = await runSource(cut)
    const whole = (await values(path.join(runFolder, 'rollouts.jsonl'))).length
    await expect(all(source)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/episodes of 1 rollouts, first /),
    })
    fs.rmSync(file)
    await expect(all(source)).rejects.toMatchObject({ message: expect.stringContaining(` of ${whole} rollouts, first `) })
    await source.close()
  })

  test('give the recordings of an environment with split, session and reference score, again and again', async () => {
    const source = await environmentSource(environmentFolder)
    const first = await all(source)
    expect(first.map(({ episode }) => episode.session).sort()).toEqual(names.map((name) => `session-${name}`).sort())
    expect(new Set(first.map(({ split }) => split))).toEqual(new Set(['train', 'validation', 'test']))
    expect(new Set(first.map(({ score }) => score))).toEqual(new Set([1]))
    expect(await all(source)).toEqual(first)
    await source.close()
  })

  test('give the rollouts of a run with score, arm and repeat, and the split of their task', async () => {
    const environment = await environmentSource(environmentFolder)
    const splits = new Map((await all(environment)).map(({ task, split }) => [task, split]))
    await environment.close()
    const source = await runSource(runFolder)
    const rollouts = await all(source)
    expect(rollouts.length).toBe(30 * 2 * 2)
    for (const { task, split, score, arm, stopped } of rollouts) {
      expect({ split, score, stopped }).toEqual({ split: splits.get(task), score: arm === 'good' ? 1 : 0, stopped: false })
    }
    await source.close()
    const good = await runSource(runFolder, { arms: ['good'] })
    expect((await all(good)).length).toBe(60)
    await good.close()
    await expect(runSource(runFolder, { arms: ['best'] })).rejects.toMatchObject({
      code: 'invalid-argument',
      hint: 'its arms are good, bad',
    })
  })

  test('refuse a run whose environment has changed since', async () => {
    const other = path.join(folder, 'other')
    await buildEnvironment(names.slice(0, 20).map(recorded), {
      name: 'desk',
      folder: other,
      homeground: '0.1.0',
      harness: { kind: 'loop', maxSteps: 4 },
    })
    await expect(runSource(runFolder, { environment: other })).rejects.toMatchObject({ code: 'run-mismatch' })
  })

  test('give recorded traffic a score only where feedback says one', async () => {
    const said = (value: number | boolean | string, stepId?: string): Episode => ({
      ...recorded('x'),
      feedback: [{ name: 'thumbs', value, source: 'user', at: '2026-01-05T10:00:00.000Z', ...(stepId === undefined ? {} : { stepId }) }],
    })
    const store = {
      async *episodes() {
        yield* [said(true), said(0.25), said('good'), said(7), said(1, 'a'.repeat(16)), { ...recorded('x'), feedback: [] }]
      },
    }
    expect((await all(traceSource(store, { project: 'p' }, 'thumbs'))).map(({ score }) => score)).toEqual([1, 0.25, null, null, null, null])
    expect((await all(traceSource(store, { project: 'p' }))).map(({ score, split }) => [score, split])).toEqual(
      Array(6).fill([undefined, undefined]),
    )
  })

  test('join in order', async () => {
    const source = await environmentSource(environmentFolder)
    const joined = joinSources([source, source])
    expect((await all(joined)).length).toBe(60)
    let tasks = 0
    for await (const _ of joined.tasks()) tasks += 1
    expect(tasks).toBe(30)
    await source.close()
  })
})

describe('writeDataset', () => {
  test('writes rows, where each came from, and the report', async () => {
    const source = await runSource(runFolder)
    const file = path.join(folder, 'out', 'rows.jsonl.gz')
    const written = await writeDataset(source, file, { format: 'trl-sft', minScore: 1, best: 1 }, { from: [runFolder] })
    const train = written.rows
    expect(written).toMatchObject({
      format: 'trl-sft',
      considered: train * 4,
      heldOut: (30 - train) * 4,
      dropped: { 'below-threshold': { length: train * 2 }, 'not-best': { length: train } },
    })
    const rows = await values(file)
    const sources = await values(path.join(folder, 'out', 'rows.sources.jsonl'))
    expect([rows.length, sources.length]).toEqual([train, train])
    expect(sources[0]).toMatchObject({
      line: 1,
      split: 'train',
      session: expect.stringMatching(/^session-/),
      episodes: [{ arm: 'good', repeat: 0, score: 1 }],
      tokens: { exact: false },
    })
    expect(JSON.parse(fs.readFileSync(path.join(folder, 'out', 'rows.report.json'), 'utf8'))).toMatchObject({
      rows: train,
      from: [runFolder],
      options: { minScore: 1 },
    })
    await source.close()
  })

  test('leaves nothing behind when a session leaks, and nothing when no row is left', async () => {
    const leaking = recorded('leak')
    const source = {
      async *candidates() {
        const base = { task: 't', session: 's', score: 1, episode: leaking }
        yield { ...base, split: 'train' as const }
        yield { ...base, split: 'test' as const }
      },
      async *tasks() {},
    }
    const target = path.join(folder, 'nothing')
    await expect(writeDataset(source, path.join(target, 'rows.jsonl'), { format: 'trl-sft' }, { from: [] })).rejects.toMatchObject({
      code: 'session-leak',
    })
    expect(fs.readdirSync(target)).toEqual([])
    const run = await runSource(runFolder, { arms: ['bad'] })
    expect(await writeDataset(run, path.join(target, 'rows.jsonl'), { format: 'trl-sft', minScore: 0.5 }, { from: [] })).toMatchObject({
      rows: 0,
    })
    expect(fs.readdirSync(target)).toEqual([])
    await run.close()
  })
})

describe('homeground dataset', () => {
  test('makes preference pairs of a run and says what became of every episode', async () => {
    const done = await homegroundCommand(['dataset', runFolder, '--format', 'trl-dpo', '--out', 'pairs.jsonl'], {}, { cwd: folder })
    const rows = await values(path.join(folder, 'pairs.jsonl'))
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toContain(`${rows.length} rows in pairs.jsonl`)
    expect(rows[0]).toMatchObject({
      chosen: [{ role: 'assistant', content: expect.stringMatching(/^It is n\d+\.$/) }],
      rejected: [{ role: 'assistant', content: 'No idea.' }],
    })
  })

  test('answers no with exit code 1 where no row is left, and prints JSON where asked to', async () => {
    const done = await homegroundCommand(
      ['dataset', runFolder, '--arm', 'bad', '--min-score', '1', '--format', 'openai-sft', '--out', 'none.jsonl', '--json'],
      {},
      { cwd: folder },
    )
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([1, { rows: 0, format: 'openai-sft' }])
    expect(fs.existsSync(path.join(folder, 'none.jsonl'))).toBe(false)
  })

  test.each([
    ['a format that does not exist', [runFolder, '--format', 'csv', '--out', 'x'], 'unknown-format'],
    ['a folder that is neither', [folder, '--format', 'trl-sft', '--out', 'x'], 'not-found'],
    ['no source at all', ['--format', 'trl-sft', '--out', 'x'], 'invalid-argument'],
    ['the test split', [runFolder, '--format', 'trl-sft', '--out', 'x', '--split', 'test'], 'invalid-argument'],
    ['a score that is none', [runFolder, '--format', 'trl-sft', '--out', 'x', '--min-score', 'high'], 'invalid-argument'],
    ['groups of recorded traffic', ['--project', 'p', '--format', 'trl-grpo', '--out', 'x'], 'invalid-argument'],
  ])('refuses %s with exit code 2', async (_, args, code) => {
    const done = await homegroundCommand(['dataset', ...args], {}, { cwd: folder })
    expect(done.code).toBe(2)
    expect(done.stderr).toContain(`docs/errors.md#${code}`)
  })
})
