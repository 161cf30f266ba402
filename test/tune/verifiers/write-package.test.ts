import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Message } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Split, Task } from '../../../replay/environment/types.ts'
import { writeVerifiersPackage } from '../../../tune/verifiers/index.ts'
import { homegroundCommand } from '../../support/command.ts'
import { filesUnder } from '../../support/files-under.ts'
import { projectRoot } from '../../support/project-files.ts'
import { candidateOf, sourceOf } from '../dataset/case-source.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-package-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const text = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] })
const taskOf = (id: string, split: Split): Task => ({
  id,
  hash: '0'.repeat(64),
  split,
  session: `s-${id}`,
  input: `ask ${id}`,
  tags: {},
  source: { trace: id },
})
const played = (id: string, split: Split, score: number | null) =>
  candidateOf({
    id: id.padEnd(32, '0'),
    session: `s-${id}`,
    split,
    task: id,
    score,
    steps: [
      {
        kind: 'model',
        request: { messages: [text('user', `ask ${id}`)], tools: [], parameters: {} },
        response: { outputs: [text('assistant', `done ${id}`)], finishReasons: ['stop'], usage: {} },
      },
    ],
  })
const lines = (...names: string[]) =>
  fs
    .readFileSync(path.join(folder, 'out', ...names), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const write = (
  dataset = {},
  candidates = [played('a', 'train', 1), played('b', 'train', 0), played('t', 'test', 1)],
  name = 'Support desk',
) =>
  writeVerifiersPackage(path.join(folder, 'out'), {
    source: sourceOf(candidates, [taskOf('a', 'train'), taskOf('b', 'train'), taskOf('v', 'validation'), taskOf('t', 'test')]),
    environment: { folder: '/env', file: { name, hash: 'f'.repeat(64) } } as never,
    dataset,
    command: ['node', 'main.js'],
    from: ['/env'],
  })

describe('writing a verifiers package', () => {
  test('holds the tasks of its split, and the chosen episodes; never anything of test', async () => {
    const written = await write({ minScore: 1 })
    expect([written.taskset, written.tasks, written.episodes, written.dataset.heldOut]).toEqual(['homeground-support-desk', 2, 1, 1])
    expect(lines('homeground_support_desk', 'tasks.jsonl')).toEqual([
      { id: 'a', prompt: 'ask a', split: 'train', session: 's-a' },
      { id: 'b', prompt: 'ask b', split: 'train', session: 's-b' },
    ])
    const traces = lines('traces.jsonl').map(({ task, traces: [trace] }) => [task.key, trace.rewards])
    expect(traces).toEqual([['a', { rubric: { score: 1, weight: 1 } }]])
    expect(lines('openai.jsonl')).toEqual([
      {
        messages: [
          { role: 'user', content: 'ask a' },
          { role: 'assistant', content: 'done a' },
        ],
      },
    ])
    const files = Object.keys(filesUnder(path.join(folder, 'out'))).filter((name) => !name.endsWith('/'))
    const holding = files.filter((name) => /(ask|done) t\b/.test(fs.readFileSync(path.join(folder, 'out', name), 'utf8')))
    expect([files.length, holding]).toEqual([12, []])
  })

  test('a score that could not be made is no reward, and not 0', async () => {
    await write({}, [played('a', 'train', null)])
    expect(lines('traces.jsonl')[0].traces[0].rewards).toEqual({ rubric: null })
  })

  test('is written without traces where nothing was played, and anew where it lies already; never over anything else', async () => {
    await write({}, [])
    expect(fs.readdirSync(path.join(folder, 'out')).sort()).toEqual([
      'README.md',
      'homeground_support_desk',
      'prime-rl.toml',
      'pyproject.toml',
    ])
    await write()
    expect(lines('traces.jsonl')).toHaveLength(2)
    fs.rmSync(path.join(folder, 'out', 'prime-rl.toml'))
    await expect(write()).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  test.each([
    ['日本の窓口', 'homeground-ffffffffffff', '"日本の窓口"'],
    ['The "desk"', 'homeground-the-desk', '"The \\"desk\\""'],
  ])('has a name that Python takes where the environment is called %s', async (name, taskset, source) => {
    expect(await write({}, [], name)).toMatchObject({ taskset })
    const settings = (file: string) => fs.readFileSync(path.join(folder, 'out', file), 'utf8')
    expect(settings('pyproject.toml')).toContain(`name = "${taskset}"`)
    expect(settings('prime-rl.toml')).toContain(`name = ${source}`)
  })

  test('the command line wants an environment, and names the folders that are in its way', async () => {
    const environment = path.join(projectRoot, 'examples', 'wordle-mini', 'env')
    const given = (...args: string[]) =>
      homegroundCommand(['--json', 'dataset', ...args, '--format', 'verifiers', '--out', path.join(folder, 'out')])
    const without = await given('--project', 'desk')
    expect([without.code, JSON.parse(without.stderr).error.code]).toEqual([2, 'invalid-argument'])
    const made = await given(environment)
    expect(made.stderr).toBe('')
    expect([made.code, JSON.parse(made.stdout)]).toMatchObject([0, { taskset: 'homeground-wordle-mini', tasks: 10, episodes: 0 }])
    const place = JSON.parse(fs.readFileSync(path.join(folder, 'out', 'homeground_wordle_mini', 'environment.json'), 'utf8'))
    expect(place).toMatchObject({
      name: 'wordle-mini',
      folder: environment,
      command: [process.execPath, expect.stringMatching(/main\.js$/)],
    })
  })
})
