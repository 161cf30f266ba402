// `homeground prefer`, as a user runs it, with a judge behind a real endpoint.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startModelServer } from '@homeground/sdk/testing'
import { formatEpisodeLine } from '@homeground/sdk/trace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { airlineEpisodes } from '../replay/support/episodes.ts'
import { homegroundCommand } from '../support/command.ts'

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cli-prefer-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

test('says who is preferred, and writes each pair beside the run', { timeout: 90_000 }, async () => {
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${airlineEpisodes(6).map(formatEpisodeLine).join('\n')}\n`)
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: folder })
  await homeground('env', 'build', 'air', '--episodes', 'episodes.jsonl', '--harness', 'loop')
  await homeground('run', 'air', '--arm', 'a=recorded', '--arm', 'b=recorded', '--out', 'run')
  await using judge = await startModelServer({
    policy: ({ messages }) => {
      const [system] = messages
      const asked = system?.parts.map((part) => (part.type === 'text' ? part.content : '')).join('') ?? ''
      return JSON.stringify({ ticket: /"ticket": "(\w+)"/.exec(asked)?.[1], reason: 'the first, always', verdict: 'first' })
    },
  })
  const { code, stdout } = await homeground('--json', 'prefer', 'run', '--judge', 'j', '--url', judge.url)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    baseline: 'a',
    candidate: 'b',
    pairs: 6,
    wins: 0,
    losses: 0,
    ties: 6,
    byOrder: 6,
    share: { mean: 0.5 },
  })
  expect(
    fs
      .readFileSync(path.join(folder, 'run', 'preferences.jsonl'), 'utf8')
      .trim()
      .split('\n'),
  ).toHaveLength(6)
  expect(judge.requests).toHaveLength(12)
  const mute = await homeground('prefer', 'run', '--judge', 'j', '--url', 'http://127.0.0.1:9/v1', '--limit', '1')
  expect([mute.code, mute.stdout.includes('the judge gave no verdict at all')]).toEqual([3, true])
})
