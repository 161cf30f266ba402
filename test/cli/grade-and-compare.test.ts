import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { formatEpisodeLine } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../replay/environment/build.ts'
import { sampleRun } from '../replay/compare/sample-run.ts'
import { sampleEpisode } from '../replay/rubric/sample.ts'
import { tauBenchEpisodes } from '../replay/rubric/tau-bench.ts'
import { homegroundCommand } from '../support/command.ts'

let folder: string
const at = (...parts: string[]) => path.join(folder, ...parts)

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'grade-'))
  const episodes = (await tauBenchEpisodes()).map(({ episode }) => episode)
  fs.writeFileSync(at('episodes.jsonl'), episodes.map((episode) => `${formatEpisodeLine(episode)}\n`).join(''))
  await buildEnvironment(episodes, { name: 'airline', folder: at('airline'), homeground: '0.1.0', harness: { kind: 'loop', maxSteps: 50 } })
  writeRun()
})
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})

function writeRun(): void {
  const run = sampleRun({ rollout: ({ task, arm }) => ({ score: arm === 'b' && task % 4 !== 0 ? 1 : 0 }) })
  fs.mkdirSync(at('home', 'runs', 'run-1'), { recursive: true })
  fs.writeFileSync(at('home', 'runs', 'run-1', 'run.json'), JSON.stringify(run.file))
  const lines: string[] = []
  const episodes: string[] = []
  for (let task = 0; task < 20; task++)
    for (const arm of ['a', 'b']) {
      const score = arm === 'b' && task % 4 !== 0 ? 1 : 0
      const episode = `${task}-${arm}-0`.padStart(32, '0').replace(/[^0-9a-f]/g, '0')
      episodes.push(formatEpisodeLine(sampleEpisode({ id: episode, output: `${arm} answers` })))
      lines.push(
        JSON.stringify({
          task: `task-${task}`,
          session: `session-${task}`,
          arm,
          repeat: 0,
          scores: { right: { value: score, weight: 1, reason: 'so' } },
          score,
          offTape: { count: 0 },
          usage: {},
          durationMs: 5,
          stop: 'done',
          episode,
        }),
      )
    }
  fs.writeFileSync(at('home', 'runs', 'run-1', 'rollouts.jsonl'), `${lines.join('\n')}\n`)
  fs.writeFileSync(at('home', 'runs', 'run-1', 'episodes.jsonl'), `${episodes.join('\n')}\n`)
}

describe('homeground grade', () => {
  test('agrees with the published reward on 197 of the 200 real episodes, and lists the others with their reasons', async () => {
    const { code, stdout, stderr } = await homegroundCommand(['grade', at('airline'), '--against', 'reward', '--at-least', '0.985'])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toContain('agrees with reward on 197 of 200')
    expect(stdout.match(/tau-airline-(2|5|46) /g)).toHaveLength(3)
    expect(stdout).toContain('unexpected update_reservation_flights(')
  })

  test('exits 1 where they agree on fewer than asked for', async () => {
    const { code, stdout } = await homegroundCommand(['--json', 'grade', at('airline'), '--against', 'reward', '--at-least', '0.99'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ recordings: 200, compared: 200, agree: 197 })
  })

  test('feedback that no recording has is an error, not an agreement', async () => {
    const { code, stderr } = await homegroundCommand(['grade', at('airline'), '--against', 'stars'])
    expect(code).toBe(2)
    expect(stderr).toContain('no recording has feedback named stars')
  })

  test('a grader that does not exist is named, and the exit is 2', async () => {
    fs.cpSync(at('airline'), at('broken'), { recursive: true })
    fs.writeFileSync(at('broken', 'rubric.json'), JSON.stringify({ criteria: [{ name: 'tone', type: 'vibes' }] }))
    const { code, stderr } = await homegroundCommand(['grade', at('broken')])
    expect(code).toBe(2)
    expect(stderr).toContain('criterion "tone" (criteria[0]) has the type "vibes"')
    expect(stderr).toContain('docs/errors.md#unknown-grader')
  })
})

describe('homeground compare', () => {
  test('of a run, by its id: the verdict, the table, and both files of the report', async () => {
    const { code, stdout, stderr } = await homegroundCommand(['compare', 'run-1', '--folder', at('home')])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^BETTER \(interval\): b is better than a: \+0\.750/)
    expect(stdout).toContain(`report: ${at('home', 'runs', 'run-1', 'report.html')}`)
    expect(JSON.parse(fs.readFileSync(at('home', 'runs', 'run-1', 'report.json'), 'utf8'))).toMatchObject({ format: 1, baseline: 'a' })
    expect(fs.readFileSync(at('home', 'runs', 'run-1', 'report.html'), 'utf8')).toContain('b answers')
  })

  test('A/A: trials 0+1 of the real episodes against 2+3 are neither better nor worse', async () => {
    const args = ['--episodes', at('episodes.jsonl'), '--by', 'source.repeat', '--a', '0+1', '--b', '2+3', '--out', at('aa')]
    const { code, stdout, stderr } = await homegroundCommand(['--json', 'compare', ...args])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const comparison = JSON.parse(stdout)
    expect(comparison.pairs[0].primary).toMatchObject({ tasks: 50, sessions: 50 })
    expect(['equivalent', 'inconclusive']).toContain(comparison.pairs[0].verdict.word)
    expect(fs.existsSync(at('aa', 'report.html'))).toBe(true)
  })

  test.each([
    [['compare'], 'compare needs either a run or --episodes'],
    [['compare', 'no-such-run'], 'there is no run no-such-run'],
    [['compare', 'run-1', '--a', 'z'], 'there is no arm named z'],
    [['compare', 'run-1', '--margin', '0.1'], "a run's margin was fixed before it ran"],
    [['compare', '--episodes', 'source=import'], 'names no project'],
    [['compare', '--episodes', 'project=x,colour=red'], 'episodes are not found by colour'],
    [['compare', '--episodes', 'nowhere.jsonl'], 'nowhere.jsonl: there is no such file'],
  ])('%j is refused with what was expected, exit 2', async (args, message) => {
    const { code, stderr } = await homegroundCommand(args, { HOMEGROUND_FOLDER: at('home') })
    expect(stderr).toContain(message)
    expect(stderr).toContain('hint: ')
    expect(code).toBe(2)
  })
})

describe('homeground compare --live', () => {
  test('is for recorded traffic: with a run it is refused', async () => {
    const { code, stderr } = await homegroundCommand(['compare', 'run-1', '--folder', at('home'), '--live'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/--live compares recorded episodes, not a run/)
  })

  test('says that its samples are unpaired, in the terminal and in the report', async () => {
    const live = Array.from({ length: 40 }, (_, index) =>
      sampleEpisode({
        id: String(index).padStart(32, '0'),
        session: `visit-${index}`,
        tags: { 'variant.model': index % 2 === 0 ? 'old' : 'new' },
        feedback: [
          {
            name: 'helpful',
            value: index % 2 === 0 ? Number(index % 3 === 0) : Number(index % 5 !== 0),
            at: '2026-01-01T00:00:00.000Z',
            source: 'user',
          },
        ],
      }),
    )
    fs.writeFileSync(at('live.jsonl'), live.map((episode) => `${formatEpisodeLine(episode)}\n`).join(''))
    const arms = ['--by', 'tags.variant.model', '--a', 'old', '--b', 'new', '--score', 'helpful']
    const { code, stdout, stderr } = await homegroundCommand([
      'compare',
      '--live',
      '--episodes',
      at('live.jsonl'),
      ...arms,
      '--out',
      at('live'),
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^BETTER \(interval\): new is better than old: .* 40 rated episodes in 40 sessions, each of one arm: two samples, unpaired\.$/m,
    )
    expect(fs.readFileSync(at('live', 'report.html'), 'utf8')).toContain('each session was of one arm, so nothing is paired')
  })
})
