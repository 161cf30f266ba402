import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoopOptions, loopFileSchema, runLoop } from '../../../tune/loop/index.ts'
import { projectRoot } from '../../support/project-files.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-loop-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const loop = loopFileSchema.parse({
  name: 'desk',
  collect: { project: 'support-desk', newEpisodes: 10 },
  build: { module: 'desk.js#answer', 'split-by': 'user' },
  rollouts: { arm: ['expert=desk-expert'], url: 'http://127.0.0.1:4100/v1' },
  dataset: { format: 'trl-sft', 'min-score': 1 },
  tune: { base: 'models/base', settings: { 'optimizer.epochs': 2 } },
})

/** Stands in for the command line: each command's name is noted, and answered as `answers` says. */
function fake(answers: Partial<Record<string, () => { code?: number; value?: unknown }>>, episodes: () => number) {
  const ran: string[] = []
  const commands: string[][] = []
  const homeground: LoopOptions['homeground'] = async (given) => {
    const [, name = '', second = ''] = given
    const step = name === 'gate' ? (given.includes(rules('validation', given)) ? 'select' : 'gate') : name === 'env' ? second : name
    commands.push([...given])
    ran.push(step)
    const scores = { baseline: { score: 0.2 }, candidate: { score: 0.8 } }
    const usual =
      step === 'traces' ? [{ project: 'support-desk', episodes: episodes() }] : step === 'select' || step === 'gate' ? scores : {}
    const { code = 0, value = usual } = answers[step]?.() ?? {}
    return { code, stdout: `${JSON.stringify(value)}\n` }
  }
  return { ran, commands, homeground }
}

function rules(split: string, given: readonly string[]): string {
  return given.find((each) => each.endsWith(`${split}-rules.json`)) ?? 'none'
}

const run = (homeground: LoopOptions['homeground'], more: Partial<LoopOptions> = {}) =>
  runLoop(loop, { folder, homeground, now: () => new Date(0), ...more })

describe('runLoop', () => {
  it('goes through all steps in order, and stops when nothing new is collected', async () => {
    const { ran, commands, homeground } = fake({}, () => 60)
    const result = await run(homeground)
    expect(ran).toEqual(['traces', 'build', 'verify', 'audit', 'run', 'dataset', 'tune', 'select', 'gate', 'traces'])
    const model = path.join(folder, '001', 'model')
    expect([result.end, result.live, result.iterations.map((each) => each.outcome)]).toEqual(['no-new-episodes', model, ['promoted']])
    expect(result.iterations[0]).toMatchObject({ episodes: 60, baseline: 'models/base', scores: { baseline: 0.2, candidate: 0.8 } })
    expect(commands[6]).toEqual([
      ...['--json', 'tune', 'sft', '--model', 'models/base', '--data', path.join(folder, '001', 'rows.jsonl'), '--output', model],
      ...['--set', 'optimizer.epochs=2'],
    ])
    expect(JSON.parse(fs.readFileSync(path.join(folder, '001', 'validation-rules.json'), 'utf8'))).toMatchObject({ split: 'validation' })
  })

  it('holds the next model against the one that was promoted', async () => {
    let episodes = 50
    const { commands, homeground } = fake({}, () => {
      episodes += 10
      return Math.min(episodes, 70)
    })
    await run(homeground)
    const gates = commands.filter((command) => command[1] === 'gate')
    expect(gates.map((command) => command[command.indexOf('--baseline') + 1])).toEqual([
      'models/base',
      'models/base',
      path.join(folder, '001', 'model'),
      path.join(folder, '001', 'model'),
    ])
  })

  it('opens the test split only for a model that did better on validation', async () => {
    const worse = { baseline: { score: 0.5 }, candidate: { score: 0.5 } }
    const { ran, homeground } = fake({ select: () => ({ code: 1, value: worse }) }, () => 60)
    const result = await run(homeground)
    expect(ran).not.toContain('gate')
    expect(result.iterations.map((each) => each.outcome)).toEqual(['select'])
  })

  it('stops when so many iterations in a row brought nothing', async () => {
    let episodes = 50
    const { homeground } = fake({ gate: () => ({ code: 1 }) }, () => {
      episodes += 10
      return episodes
    })
    const result = await run(homeground)
    expect([result.end, result.live, result.iterations.map((each) => each.outcome)]).toEqual([
      'no-improvement',
      'models/base',
      ['gate', 'gate'],
    ])
  })

  it('goes on with the step that failed, and repeats none that was done', async () => {
    let broken = true
    const { ran, homeground } = fake({ tune: () => ({ code: broken ? 3 : 0 }) }, () => 60)
    await expect(run(homeground)).rejects.toMatchObject({ code: 'step-failed' })
    broken = false
    await run(homeground)
    expect(ran).toEqual(['traces', 'build', 'verify', 'audit', 'run', 'dataset', 'tune', 'traces', 'tune', 'select', 'gate', 'traces'])
  })

  it('ends an iteration whose environment does not reproduce itself', async () => {
    const { ran, homeground } = fake({ verify: () => ({ code: 1 }) }, () => 60)
    expect((await run(homeground)).iterations.map((each) => each.outcome)).toEqual(['verify'])
    expect(ran).toEqual(['traces', 'build', 'verify', 'traces'])
  })

  it('ends an iteration whose environment can be cheated, unless loop.json leaves the audit out', async () => {
    const holes = { audit: () => ({ code: 1 }) }
    const { ran, homeground } = fake(holes, () => 60)
    expect((await run(homeground)).iterations.map((each) => each.outcome)).toEqual(['audit'])
    expect(ran).toEqual(['traces', 'build', 'verify', 'audit', 'traces'])
    const without = fake(holes, () => 60)
    await runLoop({ ...loop, audit: false }, { folder: path.join(folder, 'other'), homeground: without.homeground })
    expect(without.ran).not.toContain('audit')
  })

  it('goes on after kill -9 in any step, and begins no finished step again', { timeout: 180_000 }, async () => {
    const program = `
      import fs from 'node:fs'
      import { runLoop } from ${JSON.stringify(path.join(projectRoot, 'dist', 'tune', 'loop', 'index.js'))}
      const [folder, killIn, loop] = process.argv.slice(1)
      const scores = { baseline: { score: 0.2 }, candidate: { score: 0.8 } }
      await runLoop(JSON.parse(loop), {
        folder,
        onStep: (step) => fs.appendFileSync(folder + '/steps.txt', step + ' '),
        homeground: async (given) => {
          const steps = fs.readFileSync(folder + '/steps.txt', 'utf8').trim().split(' ')
          if (steps.at(-1) === killIn && steps.indexOf(killIn) === steps.length - 1) process.kill(process.pid, 'SIGKILL')
          const value = given[1] === 'traces' ? [{ project: 'support-desk', episodes: 60 }] : scores
          return { code: 0, stdout: JSON.stringify(value) }
        },
      })`
    const steps = ['collect', 'build', 'verify', 'audit', 'rollouts', 'dataset', 'tune', 'select', 'gate']
    for (const killIn of steps) {
      const place = fs.mkdtempSync(path.join(folder, `${killIn}-`))
      const start = () =>
        spawnSync(process.execPath, ['--input-type=module', '--eval', program, '--', place, killIn, JSON.stringify(loop)], {
          encoding: 'utf8',
        })
      expect(start().signal, killIn).toBe('SIGKILL')
      const again = start()
      expect([again.status, again.stderr]).toEqual([0, ''])
      const at = steps.indexOf(killIn)
      const ran = fs.readFileSync(path.join(place, 'steps.txt'), 'utf8').trim().split(' ')
      // Collecting is asked anew each time; the step that was killed runs twice, none before it does.
      const second = at === 0 ? steps : ['collect', ...steps.slice(at)]
      expect(ran).toEqual([...steps.slice(0, at + 1), ...second, 'collect'])
      expect(fs.readFileSync(path.join(place, 'ledger.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1)
    }
  })

  it('goes on with an iteration that is under way though episodes were forgotten meanwhile', async () => {
    let episodes = 60
    let broken = false
    const { ran, homeground } = fake({ tune: () => (broken ? { code: 3 } : {}) }, () => episodes)
    await run(homeground)
    episodes = 75
    broken = true
    await expect(run(homeground)).rejects.toMatchObject({ code: 'step-failed' })
    episodes = 5
    broken = false
    ran.length = 0
    expect((await run(homeground)).iterations.map((each) => each.outcome)).toEqual(['promoted', 'promoted'])
    expect(ran.slice(0, 4)).toEqual(['traces', 'tune', 'select', 'gate'])
  })

  it('notes what rollouts cost, and no sum where one price is not known', async () => {
    let episodes = 60
    let arms: object[] = [
      { rollouts: 40, costUsd: 1.5 },
      { rollouts: 40, costUsd: 0.25 },
    ]
    const { homeground } = fake({ run: () => ({ value: { arms } }) }, () => episodes)
    await run(homeground)
    episodes = 80
    arms = [{ rollouts: 40, costUsd: 1.5 }, { rollouts: 2 }]
    const { iterations } = await run(homeground)
    expect(iterations.map(({ rollouts }) => rollouts)).toEqual([{ count: 80, costUsd: 1.75 }, { count: 42 }])
  })

  it('refuses to run beside itself, and takes over from one that was killed', async () => {
    let beside: unknown
    const { homeground } = fake(
      {
        dataset: () => {
          // As another process that is alive.
          fs.writeFileSync(path.join(folder, 'loop.lock'), String(process.ppid))
          beside = run(homeground).catch((error: unknown) => error)
          return {}
        },
      },
      () => 60,
    )
    const gone = spawnSync(process.execPath, ['--eval', '']).pid
    fs.writeFileSync(path.join(folder, 'loop.lock'), String(gone))
    expect((await run(homeground)).iterations).toHaveLength(1)
    expect(await beside).toMatchObject({
      code: 'invalid-argument',
      message: `${folder}: process ${process.ppid} is running this loop`,
    })
    expect(fs.existsSync(path.join(folder, 'loop.lock'))).toBe(false)
  })

  it('stops between steps when it is interrupted', async () => {
    const stop = new AbortController()
    const { homeground } = fake(
      {
        dataset: () => {
          stop.abort()
          return {}
        },
      },
      () => 60,
    )
    await expect(run(homeground, { signal: stop.signal })).rejects.toMatchObject({ code: 'interrupted' })
  })
})

describe('homeground loop', () => {
  const command = path.join(projectRoot, 'dist', 'cli', 'main.js')
  const homeground = (...given: string[]) => spawnSync(process.execPath, [command, 'loop', ...given], { cwd: folder, encoding: 'utf8' })

  it('prints the plan with commands and costs on a dry run, and does nothing', () => {
    fs.writeFileSync(
      path.join(folder, 'loop.json'),
      JSON.stringify({ name: 'desk', collect: { project: 'p' }, tune: { base: 'models/base' } }),
    )
    const ended = homeground('loop.json', '--dry-run')
    expect(ended.status, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('homeground --json env build desk --project p')
    expect(ended.stdout).toContain('each test task, by both models')
    expect(fs.readdirSync(folder)).toEqual(['loop.json'])
  })

  it('says on a dry run what the rollouts of the last iteration cost, and how long its steps took', () => {
    const rollouts = { arm: ['expert=gpt-4o'] }
    const file = { name: 'desk', collect: { project: 'p' }, tune: { base: 'models/base' }, rollouts }
    fs.writeFileSync(path.join(folder, 'loop.json'), JSON.stringify(file))
    const loops = path.join(folder, '.homeground', 'loops', 'desk')
    fs.mkdirSync(loops, { recursive: true })
    const at = '2026-12-02T00:00:00.000Z'
    const done = { iteration: 1, startedAt: at, endedAt: at, episodes: 60, outcome: 'promoted', baseline: 'models/base', candidate: 'm1' }
    fs.writeFileSync(
      path.join(loops, 'ledger.jsonl'),
      `${JSON.stringify({ ...done, rollouts: { count: 80, costUsd: 1.75 }, seconds: { tune: 61.2 } })}\n`,
    )
    const { stdout, status, stderr } = homeground('loop.json', '--dry-run')
    expect(status, stderr).toBe(0)
    expect(stdout).toContain('iteration 2 of desk, against m1; nothing is run')
    expect(stdout).toContain('80 rollouts, $1.75, in an earlier iteration')
    expect(stdout).toMatch(/tune +61 s/)
  })

  it('refuses options that a step does not have, or that the loop gives itself, before any step runs', () => {
    const refusal = (more: object, name = 'loop.json') => {
      fs.writeFileSync(
        path.join(folder, name),
        JSON.stringify({ name: 'desk', collect: { project: 'p' }, tune: { base: 'models/base' }, ...more }),
      )
      const { status, stderr } = homeground(name, '--dry-run')
      return { status, faults: stderr.split('\n').filter((line) => line.includes(': ') && !/^ +(hint|docs):/.test(line)) }
    }
    const wrong = {
      build: { 'spilt-by': 'user', out: 'elsewhere', redacted: 'yes', limit: 'many' },
      rollouts: { arm: ['expert=gpt-4o'], split: 'test', repeats: true },
      dataset: { split: 'test', format: 'nope' },
      gate: { options: { rules: 'mine.json', 'max-token': 3 } },
    }
    expect(refusal(wrong)).toEqual({
      status: 2,
      faults: [
        'error: loop.json: build.spilt-by: env build has no option --spilt-by; `homeground env build --help` lists them',
        '  build.out: the loop gives this one itself',
        '  build.redacted: a switch: true or false',
        expect.stringContaining('  build.limit: '),
        '  rollouts.split: the loop gives this one itself',
        '  rollouts.repeats: it wants a value',
        '  dataset.split: the loop gives this one itself',
        '  gate.options.rules: the loop gives this one itself',
        '  gate.options.max-token: gate has no option --max-token; `homeground gate --help` lists them',
        '  dataset.format: tune sft takes trl-sft or trl-tokens or openai-sft, not nope',
      ],
    })
    expect(refusal({ tune: { recipe: 'dpo', base: 'models/base' }, dataset: { format: 'trl-sft' } })).toMatchObject({ status: 2 })
    expect(refusal({ build: { 'split-by': 'user', redacted: false }, dataset: { 'min-score': 1 } })).toEqual({ status: 0, faults: [] })
  })

  it('has the trainer look at its settings before any step runs', () => {
    const trainer = path.join(projectRoot, 'test', 'tune', 'train', 'fake-trainer.mjs')
    const file = { name: 'desk', collect: { project: 'p' }, tune: { base: 'models/base', settings: { act: 'refuse' } } }
    fs.writeFileSync(path.join(folder, 'loop.json'), JSON.stringify(file))
    const start = (python: string) =>
      spawnSync(process.execPath, [command, 'loop', 'loop.json'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, HOMEGROUND_PYTHON: python },
      })
    const refused = start(trainer)
    expect([refused.status, refused.stderr.includes('optimizer.epochs: expected a number above 0')]).toEqual([2, true])
    const missing = start(path.join(folder, 'none'))
    expect([missing.status, missing.stderr.includes('HOMEGROUND_PYTHON')]).toEqual([2, true])
    expect(fs.readdirSync(folder)).toEqual(['loop.json'])
  })

  it('refuses a loop.json that it does not know, with exit code 2', () => {
    fs.writeFileSync(path.join(folder, 'loop.json'), JSON.stringify({ name: 'desk', collect: { project: 'p' }, tune: { bas: 'x' } }))
    expect(homeground('loop.json').status).toBe(2)
    expect(homeground('none.json').status).toBe(2)
    expect(homeground('loop.json', '--every', 'often').status).toBe(2)
  })
})
