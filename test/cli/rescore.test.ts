// `homeground rescore`, as a user runs it, with a judge that is away at first.
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
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cli-rescore-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

test('says why there is no score, and asks about those alone once the judge is back', { timeout: 90_000 }, async () => {
  let away = true
  await using judge = await startModelServer({
    policy: ({ messages }) => {
      const text = messages.map(({ parts }) => JSON.stringify(parts)).join('')
      const ticket = /ticket\\*": \\*"(\w+)/.exec(text)?.[1]
      return away ? 'Bad gateway.' : JSON.stringify({ ticket, reason: 'so it is', verdict: 'pass' })
    },
  })
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${airlineEpisodes(3).map(formatEpisodeLine).join('\n')}\n`)
  const criterion = { name: 'kind', weight: 1, type: 'judge', scale: 'binary', instructions: 'Kind.', model: 'j', url: judge.url }
  fs.writeFileSync(path.join(folder, 'rubric.json'), JSON.stringify({ criteria: [criterion] }))
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: folder })
  await homeground('env', 'build', 'air', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--rubric', 'rubric.json')
  await homeground('run', 'air', '--arm', 'a=recorded', '--out', 'played')
  const first = await homeground('rescore', 'played', '--out', 'first')
  expect(first.code).toBe(0)
  expect(first.stdout).toContain('a: 3 of 3 have no score: kind: the judge did not answer with one JSON object: "Bad gateway."')
  expect(first.stdout).toMatch(/homeground rescore .*first --missing/)
  away = false
  const asked = judge.requests.length
  const second = await homeground('--json', 'rescore', 'first', '--missing', '--out', 'second')
  expect(JSON.parse(second.stdout)).toMatchObject({ arms: [{ name: 'a', score: 1, withoutScore: 0 }] })
  expect(judge.requests.length - asked).toBe(3)
  const third = await homeground('--json', 'rescore', 'second', '--missing', '--out', 'third')
  expect(JSON.parse(third.stdout)).toMatchObject({ arms: [{ name: 'a', score: 1 }] })
  expect(judge.requests.length - asked).toBe(3)
})
