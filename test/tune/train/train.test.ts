import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashModel, type TrainerEvent, train } from '../../../tune/train/index.ts'
import { projectRoot } from '../../support/project-files.ts'
import { python, pythonIsMissing } from '../../support/python.ts'

const fake = fileURLToPath(new URL('./fake-trainer.mjs', import.meta.url))
const command = path.join(projectRoot, 'dist', 'cli', 'main.js')
let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-train-'))
  fs.mkdirSync(path.join(folder, 'base'))
  fs.writeFileSync(path.join(folder, 'base', 'config.json'), '{}')
  fs.writeFileSync(path.join(folder, 'rows.jsonl'), '{"messages":[]}\n{"messages":[]}\n')
  const from = [path.join(folder, 'run'), path.join(folder, 'gone')]
  fs.writeFileSync(path.join(folder, 'rows.report.json'), JSON.stringify({ rows: 2, from }))
  fs.mkdirSync(path.join(folder, 'run'))
  const environment = { name: 'desk', folder: '/elsewhere', hash: 'e'.repeat(64) }
  fs.writeFileSync(path.join(folder, 'run', 'run.json'), JSON.stringify({ environment }))
})

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

function homeground(...given: string[]) {
  const ended = spawnSync(process.execPath, [command, ...given], {
    cwd: folder,
    env: { ...process.env, HOMEGROUND_PYTHON: fake },
    encoding: 'utf8',
  })
  return { status: ended.status, stdout: ended.stdout, stderr: ended.stderr }
}

const sft = ['tune', 'sft', '--model', 'base', '--data', 'rows.jsonl', '--output', 'out']

describe('train', () => {
  it('hands on what the trainer says, and records what the model was made from', async () => {
    const events: TrainerEvent['event'][] = []
    const packed = path.join(folder, 'more.jsonl.gz')
    fs.writeFileSync(packed, gzipSync('{"messages":[]}\n'.repeat(5)))
    const settings = {
      recipe: 'sft' as const,
      model: { base: path.join(folder, 'base') },
      data: { train: [path.join(folder, 'rows.jsonl'), packed] },
      output: path.join(folder, 'desk-sft'),
    }
    const model = await train(settings, {
      python: fake,
      homeground: '1.2.3',
      now: () => new Date(0),
      onEvent: ({ event }) => events.push(event),
    })
    expect(events).toEqual(['start', 'step', 'step', 'end'])
    expect(model).toEqual({
      format: 1,
      name: 'desk-sft',
      kind: 'adapter',
      path: 'adapter',
      recipe: 'sft',
      base: { path: settings.model.base, sha256: hashModel(settings.model.base) },
      data: [
        { path: settings.data.train[0], sha256: expect.stringMatching(/^[0-9a-f]{64}$/), rows: 2 },
        { path: packed, sha256: createHash('sha256').update(fs.readFileSync(packed)).digest('hex'), rows: 5 },
      ],
      environments: [{ name: 'desk', hash: 'e'.repeat(64) }],
      settings: { path: 'settings.json', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      seed: 0,
      versions: { homeground: '1.2.3', node: process.versions.node, torch: '2.15.0' },
      trainedAt: '1970-01-01T00:00:00.000Z',
      metrics: { steps: 2, seconds: 1.5, trainable: 1000, loss: { first: 2, last: 1 }, validationLoss: [] },
      gates: [],
    })
    expect(JSON.parse(fs.readFileSync(path.join(settings.output, 'model.json'), 'utf8'))).toEqual(model)
    expect(fs.readFileSync(path.join(settings.output, 'README.md'), 'utf8')).toContain('loss 2.0000 → 1.0000')
    expect(fs.readFileSync(path.join(settings.output, 'log.txt'), 'utf8')).toBe('a library says something\n')
  })

  it('hashes a model by what is in it, not by where it lies', () => {
    const before = hashModel(path.join(folder, 'base'))
    fs.renameSync(path.join(folder, 'base'), path.join(folder, 'moved'))
    expect(hashModel(path.join(folder, 'moved'))).toBe(before)
    fs.writeFileSync(path.join(folder, 'moved', 'config.json'), '[]')
    expect(hashModel(path.join(folder, 'moved'))).not.toBe(before)
  })
})

describe('homeground tune sft', () => {
  it('ends with 0, says where the result lies and how to go on', () => {
    const ended = homeground(...sft)
    expect(ended.status, ended.stderr).toBe(0)
    expect(ended.stdout.split('\n')[0]).toBe('out: adapter after 2 steps, loss 2.000 to 1.000')
    expect(ended.stderr).toContain('sft on 2 rows')
  })

  it('reports all faults of the settings with exit code 2 and leaves no folder behind', () => {
    const ended = homeground(...sft, '--set', 'act=refuse')
    expect(ended.status).toBe(2)
    expect(ended.stderr).toContain('optimizer.epochs: expected a number above 0, found 0 (give a number above 0)')
    expect(ended.stderr).toContain('seed: expected')
    expect(fs.existsSync(path.join(folder, 'out'))).toBe(false)
  })

  it('refused, leaves a folder that was there, and the settings that somebody wrote into it', () => {
    const own = path.join(folder, 'out', 'settings.json')
    fs.mkdirSync(path.dirname(own))
    fs.writeFileSync(own, JSON.stringify({ act: 'refuse', seed: 7 }))
    expect(homeground(...sft, '--settings', own).status).toBe(2)
    expect(fs.readFileSync(own, 'utf8')).toBe(JSON.stringify({ act: 'refuse', seed: 7 }))
  })

  it.each([
    ['fail', 'the disk is full', 'free some room'],
    ['die', 'the trainer ended with SIGKILL: Killed by something', 'out of memory'],
  ])('ends with 3 when the trainer does not make it (%s)', (act, message, hint) => {
    const ended = homeground(...sft, '--set', `act=${act}`)
    expect([ended.status, ended.stderr.includes(message), ended.stderr.includes(hint)]).toEqual([3, true, true])
    expect(fs.existsSync(path.join(folder, 'out', 'model.json'))).toBe(false)
  })

  it.each([
    [['--set', 'epochs'], 'invalid-argument'],
    [['--settings', 'none.json'], 'not-found'],
    [['--gpus', 'two'], 'invalid-argument'],
  ])('refuses %j before anything starts', (given, code) => {
    const ended = homeground('--json', ...sft, ...given)
    expect([ended.status, JSON.parse(ended.stderr).error.code]).toEqual([2, code])
  })

  it.skipIf(pythonIsMissing)('refuses more processes than there are GPUs before torch is loaded, and leaves no folder behind', () => {
    const ended = spawnSync(process.execPath, [command, ...sft, '--gpus', '2'], {
      cwd: folder,
      env: { ...process.env, HOMEGROUND_PYTHON: python, CUDA_VISIBLE_DEVICES: '' },
      encoding: 'utf8',
    })
    expect([ended.status, fs.existsSync(path.join(folder, 'out'))]).toEqual([2, false])
    expect(ended.stderr).toContain('--gpus: expected one process for each GPU, found 2 processes, and no NVIDIA device on this machine')
  })

  it.skipIf(pythonIsMissing)('leaves no half of a model that could not be made, and names a place that cannot be', () => {
    const make = (to: string, texts: string) =>
      spawnSync(process.execPath, [command, '--json', 'tune', 'model', 'tiny', to, '--texts', texts], {
        cwd: folder,
        env: { ...process.env, HOMEGROUND_PYTHON: python },
        encoding: 'utf8',
      })
    const broken = make('tiny', 'none.txt')
    expect([broken.status, fs.existsSync(path.join(folder, 'tiny'))]).toEqual([3, false])
    const place = make('rows.jsonl/tiny', 'rows.jsonl')
    expect([place.status, JSON.parse(place.stderr).error.code]).toEqual([2, 'invalid-argument'])
  })

  it('names the command that makes the Python environment where there is none', () => {
    const ended = spawnSync(process.execPath, [command, ...sft, '--folder', 'empty'], {
      cwd: folder,
      env: { ...process.env, HOMEGROUND_PYTHON: '' },
      encoding: 'utf8',
    })
    expect([ended.status, ended.stderr.includes('homeground tune setup')]).toEqual([2, true])
  })

  it('refused, leaves the settings of the run whose folder it is', () => {
    expect(homeground(...sft).status).toBe(0)
    const kept = ['settings.json', 'model.json'].map((name) => fs.readFileSync(path.join(folder, 'out', name), 'utf8'))
    expect(homeground(...sft, '--set', 'act=refuse').status).toBe(2)
    expect(['settings.json', 'model.json'].map((name) => fs.readFileSync(path.join(folder, 'out', name), 'utf8'))).toEqual(kept)
  })

  it('trains into a folder once at a time, and killed with -9, takes the trainer with it', async () => {
    const child = spawn(process.execPath, [command, ...sft, '--set', 'act=hang'], {
      cwd: folder,
      env: { ...process.env, HOMEGROUND_PYTHON: fake },
    })
    const trainer = await trainerOf(path.join(folder, 'out'))
    const beside = homeground(...sft)
    expect([beside.status, beside.stderr.includes(`process ${child.pid} is training into it`)]).toEqual([2, true])
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(trainer), { timeout: 20_000 }).toBe(false)
    expect(homeground(...sft).status).toBe(0)
  })

  it('as a step of a loop that is killed with -9, ends with it', async () => {
    const step = path.join(projectRoot, 'dist', 'cli', 'loop-step.js')
    const program = `import { runLoopStep } from ${JSON.stringify(step)}
      await runLoopStep(process.argv.slice(1), { folder: undefined, signal: new AbortController().signal })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, '--', ...sft, '--set', 'act=hang'], {
      cwd: folder,
      env: { ...process.env, HOMEGROUND_PYTHON: fake },
    })
    const trainer = await trainerOf(path.join(folder, 'out'))
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(trainer), { timeout: 20_000 }).toBe(false)
  })

  it('goes on where the channel of a process manager closes', async () => {
    const child = spawn(process.execPath, [command, ...sft, '--set', 'act=hang'], {
      cwd: folder,
      env: { ...process.env, HOMEGROUND_PYTHON: fake },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const trainer = await trainerOf(path.join(folder, 'out'))
    const closed = once(child, 'disconnect')
    child.disconnect()
    await closed
    // As long as another command takes, in which its end would be told.
    await once(spawn(process.execPath, [command, 'tune', '--help'], { stdio: 'ignore' }), 'exit')
    expect([child.exitCode, isAlive(trainer)]).toEqual([null, true])
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(trainer), { timeout: 20_000 }).toBe(false)
  })
})

/** The process id that the stand-in writes once it hangs. */
async function trainerOf(output: string): Promise<number> {
  const file = path.join(output, 'pid')
  await expect.poll(() => fs.existsSync(file) && fs.readFileSync(file, 'utf8') !== '', { timeout: 20_000 }).toBe(true)
  return Number(fs.readFileSync(file, 'utf8'))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
