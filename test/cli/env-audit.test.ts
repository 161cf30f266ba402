// `homeground env audit`: what it prints, notes in the environment's folder and exits with.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { formatEpisodeLine } from '@homeground/sdk/trace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { airlineEpisodes } from '../replay/support/episodes.ts'
import { homegroundCommand } from '../support/command.ts'

let folder: string
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cli-audit-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const note = (name: string): unknown => JSON.parse(fs.readFileSync(path.join(folder, name, 'audit.json'), 'utf8'))
const hashOf = (name: string): string => JSON.parse(fs.readFileSync(path.join(folder, name, 'env.json'), 'utf8')).hash

test('an environment with holes exits 1, and audit.json says of which build it is', { timeout: 60_000 }, async () => {
  fs.cpSync(path.resolve('examples/leaky-env'), path.join(folder, 'leaky'), { recursive: true })
  const { code, stdout } = await homegroundCommand(['--json', 'env', 'audit', 'leaky'], {}, { cwd: folder })
  const report = JSON.parse(stdout) as { findings: { severity: string }[] }
  const holes = report.findings.filter(({ severity }) => severity === 'hole').length
  expect(code).toBe(1)
  expect(holes).toBeGreaterThanOrEqual(8)
  expect(note('leaky')).toEqual({ format: 1, hash: hashOf('leaky'), clean: false, holes })
})

test('runs of it say which tasks nobody solves and which everybody, and are no holes', { timeout: 60_000 }, async () => {
  fs.writeFileSync(path.join(folder, 'episodes.jsonl'), `${airlineEpisodes(12).map(formatEpisodeLine).join('\n')}\n`)
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: folder })
  fs.writeFileSync(
    path.join(folder, 'rubric.json'),
    JSON.stringify({ criteria: [{ name: 'never', weight: 1, type: 'contains', values: ['xyzzy'] }] }),
  )
  await homeground('env', 'build', 'air', '--episodes', 'episodes.jsonl', '--harness', 'loop', '--rubric', 'rubric.json')
  await homeground('run', 'air', '--arm', 'a=recorded', '--repeats', '4', '--out', 'run')
  const { code, stdout, stderr } = await homeground('env', 'audit', 'air', '--run', 'run')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('12 of 12 tasks scored 0 in every one of their tries (4 or more): nobody solves them.')
  expect(note('air')).toEqual({ format: 1, hash: hashOf('air'), clean: true, holes: 0 })
})

test('what several findings in a row have in common is said once', { timeout: 60_000 }, async () => {
  fs.writeFileSync(path.join(folder, 'short.jsonl'), `${airlineEpisodes(6).map(formatEpisodeLine).join('\n')}\n`)
  fs.writeFileSync(path.join(folder, 'steps.json'), JSON.stringify({ criteria: [{ name: 'steps', weight: 1, type: 'steps', max: 99 }] }))
  const homeground = (...args: string[]) => homegroundCommand(args, {}, { cwd: folder })
  await homeground('env', 'build', 'short', '--episodes', 'short.jsonl', '--harness', 'loop', '--rubric', 'steps.json')
  const { code, stdout } = await homeground('env', 'audit', 'short')
  expect([code, stdout.match(/^hole \(policy-scores/gm)?.length]).toEqual([1, 8])
  expect(stdout.match(/^ {2}hint: add a criterion that it fails/gm)).toHaveLength(1)
  expect(stdout.match(/^ {2}for example: /gm)).toHaveLength(1)
})
