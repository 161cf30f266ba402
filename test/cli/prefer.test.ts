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
  const again = await homeground('prefer', 'run', '--judge', 'j', '--url', judge.url)
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('6 of 6 pairs were judged earlier')])
  const dry = await homeground('prefer', 'run', '--judge', 'gpt-4o-mini', '--url', judge.url, '--dry-run')
  expect([dry.code, dry.stdout]).toEqual([
    0,
    expect.stringMatching(/^6 pairs, the judge is asked 12 times: ~\d+\/1800 tokens, .*; ~\$0\.\d{4}\n$/),
  ])
  const unpriced = await homeground('prefer', 'run', '--judge', 'unpriced', '--url', judge.url, '--max-cost', '1')
  expect([unpriced.code, unpriced.stderr]).toEqual([
    2,
    expect.stringContaining('the cost of unpriced is not known, so no limit can be kept'),
  ])
  expect(judge.requests).toHaveLength(12)
  const limited = await homeground(
    ...['prefer', 'run', '--judge', 'gpt-4o-mini', '--url', judge.url, '--max-cost', '0.0001', '--concurrency', '1'],
  )
  expect([limited.code, limited.stderr]).toEqual([1, expect.stringContaining('stopped: --max-cost $0.0001 is spent after 1 of 6 pairs')])
  const mute = await homeground('prefer', 'run', '--judge', 'mute', '--url', 'http://127.0.0.1:9/v1', '--limit', '1')
  expect([mute.code, mute.stdout.includes('the judge gave no verdict at all')]).toEqual([3, true])
})

test('goes on where it stopped, and overwrites no verdict: not where the judge is away, nor for other arms', {
  timeout: 90_000,
}, async () => {
  const home = path.join(folder, 'resumed')
  fs.mkdirSync(home)
  fs.writeFileSync(path.join(home, 'episodes.jsonl'), `${airlineEpisodes(6).map(formatEpisodeLine).join('\n')}\n`)
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: home })
  await homeground('env', 'build', 'air', '--episodes', 'episodes.jsonl', '--harness', 'loop')
  await homeground('run', 'air', '--arm', 'a=recorded', '--arm', 'b=recorded', '--id', 'air')
  await using judge = await startModelServer({
    policy: ({ messages }) => {
      const asked = messages[0]?.parts.map((part) => (part.type === 'text' ? part.content : '')).join('') ?? ''
      return JSON.stringify({ ticket: /"ticket": "(\w+)"/.exec(asked)?.[1], reason: 'alike', verdict: 'tie' })
    },
  })
  const prefer = async (url: string, ...more: string[]) => {
    const { code, stdout } = await homeground('--json', 'prefer', 'air', '--judge', 'j', '--url', url, ...more)
    return { code, ...JSON.parse(stdout) }
  }
  // By its id, which is the name of its environment's folder too.
  const file = path.join(home, '.homeground', 'runs', 'air', 'preferences.jsonl')
  const lines = () => fs.readFileSync(file, 'utf8').trim().split('\n')
  const away = 'http://127.0.0.1:9/v1'

  expect(await prefer(judge.url, '--limit', '2')).toMatchObject({ code: 0, pairs: 2 })
  const first = lines()
  expect(await prefer(away)).toMatchObject({ code: 0, pairs: 6, earlier: 2, withoutVerdict: 4, ties: 2 })
  expect(lines().slice(0, 2)).toEqual(first)
  // As a writer leaves it that was killed.
  fs.appendFileSync(file, '{"format":1,"basel')
  expect(await prefer(judge.url)).toMatchObject({ code: 0, pairs: 6, earlier: 2, withoutVerdict: 0, ties: 6 })
  expect(judge.requests).toHaveLength(12)
  expect(await prefer(judge.url, '--a', 'b', '--b', 'a')).toMatchObject({ baseline: 'b', pairs: 6, ties: 6 })
  expect(judge.requests).toHaveLength(24)
  expect(await prefer(away)).toMatchObject({ code: 0, pairs: 6, earlier: 6, ties: 6 })
  expect(lines()).toHaveLength(16)
})
