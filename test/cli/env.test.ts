// `homeground env …` and `homeground run`, as a user runs them: child processes of the built command.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Episode, formatEpisodeLine } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { airlineEpisodes } from '../replay/support/episodes.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cli-env-'))
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${airlineEpisodes(12).map(formatEpisodeLine).join('\n')}\n`)
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

function homeground(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('homeground env and run', () => {
  test('build from a file, verify, run and show', { timeout: 120_000 }, () => {
    const built = homeground('--json', 'env', 'build', 'air', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--out', 'air')
    expect(built).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(built.stdout)).toMatchObject({ name: 'air', unit: 'episode', counts: { tasks: 12 } })

    const verified = homeground('env', 'verify', 'air', '--json')
    expect(verified).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(verified.stdout)).toMatchObject({ tasks: 12, reproduced: 12, offTape: 0, passed: true })

    const run = homeground('run', 'air', '--arm', 'a=recorded', '--arm', 'b=recorded', '--repeats', '2', '--out', 'run')
    expect(run.status).toBe(0)
    expect(run.stdout).toContain('48 of 48 rollouts in run')
    expect(run.stderr).toContain('rollouts: 48 of 48')
    // Again: nothing is left to do.
    expect(
      JSON.parse(homeground('run', 'air', '--arm', 'a=recorded', '--arm', 'b=recorded', '--repeats', '2', '--out', 'run', '--json').stdout),
    ).toMatchObject({
      planned: 48,
      done: 48,
      arms: [
        { name: 'a', rollouts: 24, errors: 0, offTapeShare: 0 },
        { name: 'b', rollouts: 24, errors: 0, offTapeShare: 0 },
      ],
    })

    const shown = homeground('env', 'show', 'air')
    expect(shown.stdout).toContain('# air')
    expect(homeground('env', 'show', 'air', '--tasks', '--json').stdout.trim().split('\n').length).toBe(12)
  })

  test('build with --command plays the program from the folder where it was given, its words as a shell parts them', {
    timeout: 60_000,
  }, () => {
    fs.mkdirSync(path.join(folder, 'my product'))
    fs.writeFileSync(
      path.join(folder, 'my product', 'answer.mjs'),
      `import fs from 'node:fs'
fs.writeFileSync('played.json', JSON.stringify(process.argv.slice(2)))
console.log(JSON.stringify('ok'))
`,
    )
    const asked = { ...airlineEpisodes(1)[0], input: 'hi' } as Episode
    fs.writeFileSync(path.join(folder, 'asked.jsonl'), `${formatEpisodeLine(asked)}\n`)
    const build = (command: string) =>
      homeground(
        'env',
        'build',
        'program',
        '--episodes',
        'asked.jsonl',
        '--command',
        command,
        '--reference',
        'recorded',
        '--out',
        'envs/program',
      )
    expect(build(`node "my product/answer.mjs" --style='very brief' x`)).toMatchObject({ status: 0 })
    expect(JSON.parse(fs.readFileSync(path.join(folder, 'envs/program/env.json'), 'utf8')).harness).toMatchObject({
      kind: 'command',
      cwd: '../..',
    })
    const run = homeground('run', 'envs/program', '--arm', 'a=recorded', '--out', 'program-run')
    expect(run.stderr).not.toContain('failed')
    expect(JSON.parse(fs.readFileSync(path.join(folder, 'played.json'), 'utf8'))).toEqual(['--style=very brief', 'x'])
    for (const command of ['node "my product', '  '])
      expect(build(command)).toMatchObject({ status: 2, stderr: expect.stringContaining('is no program with its arguments') })
  })

  test('build says what it chose, and how much it left out, here, in env.json and on the card', { timeout: 60_000 }, () => {
    const options = ['--harness', 'loop', '--dedupe', '--sample', '4', '--stratify', 'outcome']
    const built = homeground('env', 'build', 'few', '--episodes', 'episodes.jsonl', ...options)
    expect(built.status, built.stderr).toBe(0)
    const lines = [
      /Selected: 4 of 12 episodes/,
      /Near-duplicates left out: \d+ \(first user turns/,
      /Strata: outcome=bad: 2 of \d+; outcome=good: 2 of \d+/,
    ]
    const card = homeground('env', 'show', 'few').stdout
    for (const line of lines) {
      expect(built.stdout).toMatch(line)
      expect(card).toMatch(line)
    }
    expect(JSON.parse(fs.readFileSync(path.join(folder, 'few', 'env.json'), 'utf8')).built.query).toEqual({
      files: ['episodes.jsonl'],
      selection: { dedupe: 0.9, sample: 4, stratify: ['outcome'], by: 'episode' },
    })
    const without = homeground('env', 'build', 'x', '--episodes', 'episodes.jsonl', '--stratify', 'outcome')
    expect({ status: without.status, said: /--stratify needs --sample N/.test(without.stderr) }).toEqual({ status: 2, said: true })
  })

  test('diff says what changed from one to another, in words and as JSON', { timeout: 60_000 }, () => {
    const build = (name: string, ...more: string[]) =>
      homeground('env', 'build', name, '--episodes', 'episodes.jsonl', '--harness', 'loop', ...more)
    build('before')
    build('after', '--limit', '10', '--max-steps', '9')
    const { status, stdout } = homeground('env', 'diff', 'before', 'after')
    expect(status).toBe(0)
    expect(stdout).toContain('tasks: 0 added, 2 removed, 0 changed, 0 moved to another split, 10 as they were')
    expect(stdout).toContain('~ harness {"kind":"loop","maxSteps":50} to {"kind":"loop","maxSteps":9}')
    expect(stdout).toContain('not the same: rollouts in one cannot be compared')
    const same = homeground('env', 'diff', 'before', 'before', '--json')
    expect(JSON.parse(same.stdout)).toMatchObject({ same: true, tasks: { unchanged: 12, added: [], removed: [], changed: [], moved: [] } })
  })

  test('what a rollout may take is set for a run, and kept in its run.json', { timeout: 60_000 }, () => {
    const build = ['env', 'build', 'limits', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--limit', '2']
    expect(homeground(...build).status).toBe(0)
    const limits = ['--max-steps', '1', '--max-rollout-cost', '0.5', '--timeout', '60000']
    const run = homeground('run', 'limits', '--arm', 'a=recorded', '--out', 'limited', ...limits)
    expect(run.status, run.stderr).toBe(0)
    const { harness } = JSON.parse(fs.readFileSync(path.join(folder, 'limited', 'run.json'), 'utf8'))
    expect(harness).toEqual({ kind: 'loop', maxSteps: 1, maxCostUsd: 0.5, timeoutMs: 60_000 })
    const rollouts = fs
      .readFileSync(path.join(folder, 'limited', 'rollouts.jsonl'), 'utf8')
      .trim()
      .split('\n')
    expect(rollouts.map((line) => JSON.parse(line).stop)).toEqual(['max-steps', 'max-steps'])
    for (const wrong of [
      ['--max-steps', '0'],
      ['--max-rollout-cost', 'cheap'],
      ['--timeout', '-1'],
    ])
      expect(homeground('run', 'limits', '--arm', 'a=recorded', '--out', 'none', ...wrong).status).toBe(2)
  })

  test('a rubric that weighs feedback is warned of before a rollout is paid for, and after says why none has a score', {
    timeout: 60_000,
  }, () => {
    const feedback = [{ name: 'happy', value: true, source: 'human', at: '2026-01-01T00:00:00.000Z' }]
    const lines = airlineEpisodes(2).map((episode) => formatEpisodeLine({ ...episode, feedback }))
    fs.writeFileSync(path.join(folder, 'happy.jsonl'), `${lines.join('\n')}\n`)
    expect(homeground('env', 'build', 'happy', '--episodes', 'happy.jsonl', '--harness', 'loop').stdout).toContain(
      'weighs feedback (happy)',
    )
    const run = homeground('run', 'happy', '--arm', 'a=recorded', '--out', 'unscored')
    expect(run.stderr).toMatch(/^warning: criterion happy .* asks for feedback/)
    expect(run.stdout).toContain('a: 2 of 2 have no score: happy: no feedback named happy')
    const audit = homeground('env', 'audit', 'happy')
    expect([audit.status, audit.stdout]).toEqual([
      1,
      expect.stringContaining('hole (never-scored, rubric): Recordings get a score and no policy does'),
    ])
  })

  test('a run that cannot begin leaves no folder, and says nothing of one', { timeout: 60_000 }, () => {
    const { status, stderr } = homeground('run', 'air', '--out', 'without-arms')
    expect({ status, there: fs.existsSync(path.join(folder, 'without-arms')) }).toEqual({ status: 2, there: false })
    expect(stderr).toMatch(/^error: a run needs at least one arm/)
    const keyless = [{ name: 'a', model: 'm', url: 'http://127.0.0.1:9/v1', apiKeyEnv: 'NO_SUCH_KEY' }]
    fs.writeFileSync(path.join(folder, 'keyless.json'), JSON.stringify(keyless))
    const run = homeground('run', 'air', '--arms', 'keyless.json', '--out', 'without-key')
    expect({ status: run.status, there: fs.existsSync(path.join(folder, 'without-key')) }).toEqual({ status: 2, there: false })
    expect(run.stderr).toMatch(/^error: arm a: the environment variable NO_SUCH_KEY is not set/)
    for (const more of [[], ['--dry-run']]) {
      const none = homeground('run', 'air', '--arm', 'a=m', '--task', 'nope', '--out', 'without-task', ...more)
      expect([none.status, none.stderr.split('\n')[0]]).toEqual([2, 'error: no task of air is chosen'])
    }
  })

  test('files with a byte order mark, as some editors write them, are read', { timeout: 60_000 }, () => {
    fs.writeFileSync(path.join(folder, 'marked.json'), `\uFEFF${JSON.stringify([{ name: 'a', model: 'recorded' }])}`)
    expect(homeground('run', 'air', '--arms', 'marked.json', '--limit', '1', '--out', 'marked').status).toBe(0)
  })

  test('a model that cannot be reached fails the run, with the reason', { timeout: 60_000 }, () => {
    const closed = 'http://127.0.0.1:9/v1'
    const { status, stdout, stderr } = homeground('run', 'air', '--arm', 'a=m', '--url', closed, '--limit', '1', '--out', 'unreachable')
    expect(status).toBe(3)
    expect(stderr).toContain(`a: m at ${closed}/chat/completions`)
    expect(stdout).toMatch(/^a: 1 of 1 failed: .*127\.0\.0\.1:9.* did not answer/m)
    expect(stdout).not.toContain('next: homeground compare')
  })

  test('a variant that nothing asks for is named', { timeout: 60_000 }, () => {
    fs.writeFileSync(path.join(folder, 'arms.json'), JSON.stringify([{ name: 'a', model: 'recorded', variants: { promt: 'Be brief.' } }]))
    const { status, stdout } = homeground('run', 'air', '--arms', 'arms.json', '--limit', '1', '--out', 'misspelt')
    expect(status).toBe(0)
    expect(stdout).toContain('warning: a sets the variant promt, and no rollout asked for one of that name')
  })

  test('a product that cannot be loaded is refused, and the command ends', { timeout: 60_000 }, () => {
    homeground('env', 'build', 'gone', '--episodes', 'episodes.jsonl', '--harness', 'loop')
    const file = path.join(folder, 'gone', 'env.json')
    fs.writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), harness: { kind: 'module', module: 'gone.js#answer' } }),
    )
    const unsealed = homeground('run', 'gone', '--arm', 'a=recorded', '--out', 'gone-run')
    expect({ status: unsealed.status, hint: /homeground env seal/.test(unsealed.stderr) }).toEqual({ status: 2, hint: true })
    expect(homeground('env', 'seal', 'gone').status).toBe(0)
    const run = homeground('run', 'gone', '--arm', 'a=recorded', '--out', 'gone-run')
    expect({ status: run.status, there: fs.existsSync(path.join(folder, 'gone-run')) }, run.stderr).toEqual({ status: 2, there: false })
    const unbuilt = homeground('env', 'build', 'unbuilt', '--episodes', 'episodes.jsonl', '--module', 'gone.js#answer')
    expect(unbuilt.stderr).toMatch(/^error: gone\.js of --module is not there/)
    expect({ status: unbuilt.status, there: fs.existsSync(path.join(folder, 'unbuilt')) }).toEqual({ status: 2, there: false })
    const { status, stderr } = homeground('env', 'verify', 'gone')
    expect({ status, said: /gone\.js cannot be loaded/.test(stderr), hint: /harness\.module/.test(stderr) }, stderr).toEqual({
      status: 2,
      said: true,
      hint: true,
    })
  })

  test('an unknown grader is named with those there are, before anything runs', { timeout: 60_000 }, () => {
    homeground('env', 'build', 'odd', '--episodes', 'episodes.jsonl', '--harness', 'loop')
    const rubric = path.join(folder, 'odd', 'rubric.json')
    fs.writeFileSync(
      rubric,
      fs.readFileSync(rubric, 'utf8').replace('"type": "actions"', '"type": "vibes"').replace('"type": "steps"', '"type": "vibes"'),
    )
    const { status, stderr } = homeground('run', 'odd', '--arm', 'a=recorded', '--out', 'odd-run')
    expect({ status, said: /rubric\.json: .*"vibes"/.test(stderr), hint: /equals, contains/.test(stderr) }, stderr).toEqual({
      status: 2,
      said: true,
      hint: true,
    })
    expect(fs.existsSync(path.join(folder, 'odd-run'))).toBe(false)
  })

  test('exit 1 where too little is reproduced, and 2 with the place where the folder is broken', { timeout: 120_000 }, () => {
    homeground('env', 'build', 'two', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--out', 'two')
    const tapes = path.join(folder, 'two', 'tapes.jsonl')
    fs.writeFileSync(tapes, fs.readFileSync(tapes, 'utf8').replaceAll('Jones', 'Smith').replaceAll('gold', 'lead'))
    const changed = homeground('env', 'verify', 'two')
    expect(changed.status).toBe(2)
    expect(changed.stderr).toMatch(/tapes\.jsonl:\d+: entry \d+ \(think\): hash does not fit its arguments/)
    expect(changed.stderr).toContain('homeground env seal')
    expect(homeground('env', 'seal', 'two').status).toBe(0)
    const verified = homeground('env', 'verify', 'two')
    expect(verified.status).toBe(1)
    expect(verified.stdout).toMatch(
      /task [0-9a-f]{32}, step \d+ \(model call\): changed-tool\n {2}at {8}request\.messages\[\d+\]\.parts\[0\]\.response/,
    )
    expect(homeground('env', 'verify', 'two', '--threshold', '0').status).toBe(0)
  })

  test.each([
    [['env', 'build', '../elsewhere', '--episodes', 'episodes.jsonl'], '../elsewhere is no name for an environment'],
    [['env', 'build', 'a\u001b[31mb', '--episodes', 'episodes.jsonl'], 'is no name for an environment'],
    [['env', 'build', 'x', '--episodes', 'episodes.jsonl', '--out', '/dev/null/x'], 'a part of the path is a file'],
    [['run', 'air', '--arm', 'a=recorded', '--out', '/dev/null/x'], 'a part of the path is a file'],
    [['env', 'build', 'x', '--episodes', 'nowhere.jsonl', '--out', 'x'], 'nowhere.jsonl does not exist'],
    [['env', 'build', 'x', '--episodes', 'episodes.jsonl', '--harness', 'module', '--out', 'x'], 'harness module needs --module'],
    [['env', 'verify', 'nowhere'], 'there is no such environment folder'],
    [['run', 'air', '--arm', 'a'], '--arm a is not NAME=MODEL'],
    [['run', 'air', '--arm', 'a=m', '--url', 'not a url'], 'arm a: not an arm: url'],
  ])('%j ends with 2 and says why', { timeout: 60_000 }, (args, message) => {
    const failed = homeground(...args)
    expect(failed.status).toBe(2)
    expect(failed.stderr).toContain(message)
    expect(failed.stderr).toContain('hint:')
    expect(fs.existsSync(path.join(folder, 'x'))).toBe(false)
  })
})
