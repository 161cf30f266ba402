import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startModelServer } from '@homeground/sdk/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { closeGate, levelOf, openGate, readLedger } from '../../../tune/gate/ledger.ts'
import type { GateLook } from '../../../tune/gate/types.ts'
import { episodeOf, text } from '../../replay/support/episodes.ts'
import { commandLine, homegroundCommand } from '../../support/command.ts'
import { until } from '../../support/until.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-ledger-'))
  file = path.join(folder, 'gates.jsonl')
})

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

function look(id: string, more: Partial<GateLook> = {}): GateLook {
  return { at: '2026-01-01T00:00:00.000Z', id, testHash: 'split', baseline: 'base', candidate: id, run: 'run', ...more }
}

const numbers = () => readLedger(file, 'split').map(({ id, gate }) => [id, gate])

describe('the ledger of gates', () => {
  it('numbers the gates on a split in the order in which they were opened, each once', () => {
    expect([
      openGate(file, look('a')).gate,
      openGate(file, look('other', { testHash: 'another' })).gate,
      openGate(file, look('b')).gate,
    ]).toEqual([1, 1, 2])
    expect(openGate(file, look('a', { at: '2027-01-01T00:00:00.000Z' }))).toEqual({ ...look('a'), gate: 1 })
    closeGate(file, openGate(file, look('b')), { promoted: true, verdict: 'better' })
    closeGate(file, openGate(file, look('a')), { promoted: false, verdict: 'inconclusive' })
    expect(readLedger(file, 'split')).toEqual([
      { ...look('a'), gate: 1, promoted: false, verdict: 'inconclusive' },
      { ...look('b'), gate: 2, promoted: true, verdict: 'better' },
    ])
    expect(levelOf(2)).toBe(0.0125)
  })

  it('gives no number twice to processes that open gates at one time', { timeout: 60_000 }, async () => {
    const processes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => opener(name, 25)))
    for (const { begin } of processes) begin()
    const given = (await Promise.all(processes.map(({ ended }) => ended))).flatMap(({ stdout }) =>
      JSON.parse(stdout.split('\n')[1] ?? 'null'),
    )
    expect(given.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it('keeps the number of a gate whose process was killed', { timeout: 60_000 }, async () => {
    const killed = await opener('killed', 1, 'die')
    killed.begin()
    expect(await killed.ended).toEqual({ code: null, stdout: 'ready\n' })
    expect(openGate(file, look('next')).gate).toBe(2)
    expect(openGate(file, look('killed-0')).gate).toBe(1)
  })

  it('passes over a line whose writer was killed in it, wherever it stands, and begins a new line after it', () => {
    openGate(file, look('a'))
    const whole = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, whole + whole.slice(0, 40))
    expect(numbers()).toEqual([['a', 1]])
    expect(openGate(file, look('b')).gate).toBe(2)
    fs.appendFileSync(file, '{')
    expect(openGate(file, look('c')).gate).toBe(3)
    expect(numbers()).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
  })

  it('names the line that is none of its own', () => {
    openGate(file, look('a'))
    fs.appendFileSync(file, 'what is this\n')
    expect(() => openGate(file, look('b'))).toThrow(`${file}:2`)
    fs.writeFileSync(file, '{"id":"a"}\n')
    expect(() => openGate(file, look('b'))).toThrow(`${file}:1`)
  })
})

describe('homeground gate', () => {
  it('holds two gates that run at one time at levels of their own, and a killed one at its old one', { timeout: 120_000 }, async () => {
    const sessions = Array.from({ length: 30 }, (_, number) =>
      episodeOf(String(number), [text('user', `question ${number}`), text('assistant', `answer ${number}`)], {
        feedback: [
          { name: 'expected_outputs', value: JSON.stringify([`answer ${number}`]), source: 'human', at: '2026-01-01T00:00:00.000Z' },
        ],
      }),
    )
    await buildEnvironment(sessions, {
      name: 'capitals',
      folder: path.join(folder, 'env'),
      homeground: '0.1.0',
      harness: { kind: 'loop', maxSteps: 2 },
      rubric: { criteria: [{ name: 'right', weight: 1, type: 'contains', caseSensitive: false }] },
    })
    let asked = 0
    await using server = await startModelServer({
      policy: async ({ body: { model } }) => {
        asked += 1
        if (model === 'hangs' && asked < 3) await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
        return 'I do not know.'
      },
    })
    const gate = (candidate: string) => ['--json', 'gate', 'env', '--baseline', 'base', '--candidate', candidate, '--url', server.url]
    const hung = spawn(process.execPath, [commandLine, ...gate('hangs')], { cwd: folder, stdio: 'ignore' })
    const ended = new Promise((resolve) => hung.once('close', resolve))
    await until(
      () => asked > 0,
      () => 'no question came',
      30_000,
    )
    hung.kill('SIGKILL')
    await ended
    const run = (candidate: string) => homegroundCommand(gate(candidate), {}, { cwd: folder })
    const results = await Promise.all([run('one'), run('two')])
    results.push(await run('hangs'))
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(results.map(() => ({ code: 1, stderr: '' })))
    const gates = results.map(({ stdout }) => JSON.parse(stdout)).map(({ gate: number, interval }) => [number, interval.level])
    expect([...gates.slice(0, 2).sort((a, b) => a[0] - b[0]), ...gates.slice(2)]).toEqual([
      [2, 1 - levelOf(2)],
      [3, 1 - levelOf(3)],
      [1, 1 - levelOf(1)],
    ])
  })
})

/** A process that opens so many gates once it is told to begin. */
async function opener(name: string, count: number, end = 'live') {
  const script = path.join(import.meta.dirname, 'open-gates.mjs')
  const child = spawn(process.execPath, [script, file, name, String(count), end], { stdio: ['pipe', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk)
  })
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) => child.once('close', (code) => resolve({ code, stdout })))
  await until(
    () => stdout !== '',
    () => `${name} did not start`,
  )
  return { ended, begin: () => child.stdin.end('begin\n') }
}
