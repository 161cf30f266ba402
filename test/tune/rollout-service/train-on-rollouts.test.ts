import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { projectRoot } from '../../support/project-files.ts'
import { python, pythonIsMissing } from '../../support/python.ts'

const fake = fileURLToPath(new URL('../train/fake-trainer.mjs', import.meta.url))
const environment = path.join(projectRoot, 'examples', 'wordle-mini', 'env')
const { hash } = JSON.parse(fs.readFileSync(path.join(environment, 'env.json'), 'utf8')) as { hash: string }
let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-grpo-'))
  fs.mkdirSync(path.join(folder, 'base'))
  fs.writeFileSync(path.join(folder, 'base', 'config.json'), '{}')
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

function homeground(interpreter: string, ...given: string[]) {
  const ended = spawnSync(process.execPath, [path.join(projectRoot, 'dist', 'cli', 'main.js'), ...given], {
    cwd: folder,
    env: { ...process.env, HOMEGROUND_PYTHON: interpreter },
    encoding: 'utf8',
  })
  return { status: ended.status, stdout: ended.stdout, stderr: ended.stderr }
}

const read = (file: string) => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'))

describe('homeground tune grpo', () => {
  it('hands the trainer a service and all tasks of train, and records which environment was played', () => {
    const ended = homeground(
      fake,
      'tune',
      'grpo',
      '--environment',
      environment,
      '--model',
      'base',
      '--output',
      'out',
      '--set',
      'rollouts.group=4',
    )
    expect(ended.status, ended.stderr).toBe(0)
    const { rollouts, data } = read('out/settings.json')
    expect(rollouts).toEqual({ group: 4, service: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/), environment: hash })
    expect(data.train).toEqual([path.join(fs.realpathSync(folder), 'out', 'tasks.jsonl')])
    const tasks = fs.readFileSync(data.train[0], 'utf8').trim().split('\n')
    expect([tasks.length, tasks[0]]).toEqual([10, '{"task":"train-rat"}'])
    expect(read('out/model.json').environments).toEqual([{ name: 'wordle-mini', hash }])
    fs.writeFileSync(path.join(folder, 'out', 'tasks.jsonl'), '{"task":"of another environment"}\n')
    const other = homeground(fake, 'tune', 'grpo', '--environment', environment, '--model', 'base', '--output', 'out')
    expect([other.status, other.stderr.includes('out holds a run on other tasks than those of')]).toEqual([2, true])
    expect(read('out/tasks.jsonl')).toEqual({ task: 'of another environment' })
  })

  it('ends with 2 where there is no such environment, and leaves no folder behind', () => {
    const ended = homeground(fake, '--json', 'tune', 'grpo', '--environment', 'nowhere', '--model', 'base', '--output', 'out')
    expect([ended.status, JSON.parse(ended.stderr).error.code, fs.existsSync(path.join(folder, 'out'))]).toEqual([2, 'not-found', false])
  })
})

describe.skipIf(pythonIsMissing)('the trainer and the product together', () => {
  it('train a model on rollouts of the product’s own code', { timeout: 300_000 }, () => {
    const made = homeground(python, 'tune', 'model', 'tiny', 'tiny')
    expect(made.status, made.stderr).toBe(0)
    const set = ['method=full', 'optimizer.maxSteps=2', 'optimizer.perDeviceBatch=4', 'rollouts.group=4', 'rollouts.turnTokens=16']
    const given = ['--environment', environment, '--model', 'tiny', '--output', 'out', '--set', ...set, 'rollouts.rolloutTokens=900']
    const ended = homeground(python, 'tune', 'grpo', ...given)
    expect(ended.status, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('out: model after 2 steps, reward 0.000 to 0.000')
    const events = fs
      .readFileSync(path.join(folder, 'out', 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const steps = events.filter(({ event }) => event === 'step')
    // A random model makes no guess: nothing fails, and the rubric says 0.
    expect(steps.map(({ rollouts, errored, unscored, criteria, stops }) => ({ rollouts, errored, unscored, criteria, stops }))).toEqual(
      Array.from({ length: 2 }, () => ({ rollouts: 4, errored: 0, unscored: 0, criteria: { fair: 0, solved: 0 }, stops: { done: 4 } })),
    )
    for (const { logprobGap } of steps) expect(logprobGap.max).toBeLessThan(1e-4)
    expect(read('out/model.json').metrics.reward).toEqual({ first: 0, last: 0 })
  })
})
