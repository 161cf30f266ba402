// A tool with side effects runs in a replay only where env.json names it as live and the command line names it again: seen in what it does to the world.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatEpisodeLine } from '@homeground/sdk/trace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls, episodeOf, result, text, toolSpan } from '../replay/support/episodes.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const product = fileURLToPath(new URL('booking-product.mjs', import.meta.url))
let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cli-live-'))
  const booked = episodeOf(
    'booked',
    [text('user', 'seat 7'), calls({ id: 'c1', name: 'book', arguments: { seat: 7 } }), result('c1', 'booked 7'), text('assistant', 'ok')],
    {
      tools: [toolSpan('book', { seat: 7 }, 7, { callId: 'c1', result: 'booked 7', effect: 'write' })],
      input: { ask: 'seat 7' },
      output: 'ok',
    },
  )
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${formatEpisodeLine(booked)}\n`)
  const modes = {
    tape: {},
    live: { book: { mode: 'live' } },
    undeclared: { book: { mode: 'live', effect: 'unknown' } },
    read: { book: { mode: 'live', effect: 'read' } },
  }
  for (const [name, tools] of Object.entries(modes)) {
    fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(tools))
    const options = ['--episodes', 'episodes.jsonl', '--module', `${product}#agent`, '--tools', `${name}.json`, '--reference', 'recorded']
    expect(homeground('env', 'build', name, ...options).status).toBe(0)
  }
}, 120_000)
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

function homeground(...args: string[]): { status: number | null; stderr: string } {
  const env = { ...process.env, LEDGER: path.join(folder, 'ledger') }
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8', env })
  return { status, stderr }
}

test.each<[string, string, string[], string, string]>([
  ['on the tape, though the command line names it', 'tape', ['--allow-live', 'book'], 'done', ''],
  ['live in env.json alone', 'live', [], 'off-tape', ''],
  ['live in env.json, another named on the command line', 'live', ['--allow-live', 'cancel'], 'off-tape', ''],
  ['live in env.json, and named on the command line', 'live', ['--allow-live', 'book'], 'done', '7\n'],
  ['live in env.json, its effect not known', 'undeclared', [], 'off-tape', ''],
  ['live in env.json, which says that it only reads', 'read', [], 'done', '7\n'],
])('a tool that is %s', { timeout: 120_000 }, (_, environment, options, stop, ledger) => {
  const file = path.join(folder, 'ledger')
  fs.writeFileSync(file, '')
  const out = fs.mkdtempSync(path.join(folder, 'run-'))
  const { stderr } = homeground('run', environment, '--arm', 'a=recorded', '--out', path.join(out, 'run'), ...options)
  const rollout = JSON.parse(fs.readFileSync(path.join(out, 'run', 'rollouts.jsonl'), 'utf8'))
  expect({ stop: rollout.stop, ledger: fs.readFileSync(file, 'utf8') }, stderr).toEqual({ stop, ledger })
  if (stop === 'off-tape') expect(rollout).toMatchObject({ score: null, error: { message: expect.stringContaining('--allow-live') } })
})
