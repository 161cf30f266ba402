import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { openRun } from '../../../replay/run/open-run.ts'
import { rescoreRun } from '../../../replay/run/rescore-run.ts'
import { RunFolder } from '../../../replay/run/run-folder.ts'
import type { Rollout } from '../../../replay/run/types.ts'
import { sampleEpisode } from '../rubric/sample.ts'
import { episodeOf, text } from '../support/episodes.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rescore-'))
})
afterEach(() => {
  fs.rmSync(folder, { recursive: true })
})
const at = (name: string) => path.join(folder, name)

async function environment(pattern: string) {
  const episodes = ['a', 'b'].map((name) => episodeOf(name, [text('user', 'hi'), text('assistant', 'hello')]))
  await buildEnvironment(episodes, {
    name: 'e',
    folder: at(`env-${pattern}`),
    homeground: '0',
    harness: { kind: 'loop', maxSteps: 5 },
    rubric: { criteria: [{ name: 'greets', type: 'matches', weight: 1, pattern, flags: '' }] },
  })
  return openEnvironment(at(`env-${pattern}`))
}

test('scores the recorded episodes by the rubric of today, keeps nulls of runs that broke off, and leaves the old run alone', async () => {
  const before = await environment('hello')
  const tasks: string[] = []
  for await (const task of before.tasks()) tasks.push(task.id)
  const { name, hash } = before.file
  const file = {
    format: 1 as const,
    id: 'old',
    environment: { name, folder: before.folder, hash },
    arms: [{ name: 'x', model: 'm' }],
    harness: before.file.harness,
    tasks,
    repeats: 1,
    seed: 0,
    margin: 0.05,
    startedAt: '2026-01-01T00:00:00.000Z',
    versions: {},
  }
  const run = await RunFolder.open(at('old'), file)
  for (const [index, task] of tasks.entries()) {
    const broken = index === 1
    const rollout: Rollout = {
      task,
      session: `s${index}`,
      arm: 'x',
      repeat: 0,
      scores: { greets: { value: 1, weight: 1, reason: 'matches at 0' } },
      score: broken ? null : 1,
      offTape: { count: 0 },
      usage: {},
      durationMs: 1,
      ...(broken && { error: { type: '500', message: 'down' } }),
      stop: broken ? 'error' : 'done',
      episode: `${index}`.repeat(32),
    }
    await run.add(index, rollout, sampleEpisode({ id: rollout.episode, output: 'hello' }))
  }
  await run.close()
  await before.close()
  const oldText = fs.readFileSync(path.join(at('old'), 'rollouts.jsonl'), 'utf8')

  const after = await environment('goodbye')
  const again = await rescoreRun(await openRun(at('old')), after, { folder: at('new'), id: 'new', prices: {} })
  await after.close()
  const rollouts: Rollout[] = []
  for await (const rollout of again.rollouts()) rollouts.push(rollout)
  expect(rollouts.map(({ score, scores }) => [score, scores['greets']?.value])).toEqual([
    [0, 0],
    [null, 0],
  ])
  expect(again.file).toEqual({ ...file, id: 'new', environment: { name: 'e', folder: after.folder, hash: after.file.hash } })
  expect(again.size).toEqual({ planned: 2, done: 2 })
  expect(fs.readFileSync(path.join(at('old'), 'rollouts.jsonl'), 'utf8')).toBe(oldText)
})

test('scores only what has no score, where a judge was away, and keeps the rest as it is; not by another rubric', async () => {
  const before = await environment('hello')
  const tasks: string[] = []
  for await (const task of before.tasks()) tasks.push(task.id)
  const { name, hash, harness } = before.file
  const run = await RunFolder.open(at('old'), {
    ...{ format: 1 as const, id: 'old', environment: { name, folder: before.folder, hash }, arms: [{ name: 'x', model: 'm' }] },
    ...{ harness, tasks, repeats: 1, seed: 0, margin: 0.05, startedAt: '2026-01-01T00:00:00.000Z', versions: {} },
  })
  const scores = [0.25, null]
  for (const [index, task] of tasks.entries()) {
    const score = scores[index] ?? null
    const rollout: Rollout = {
      ...{ task, session: `s${index}`, arm: 'x', repeat: 0, score, offTape: { count: 0 }, usage: {}, durationMs: 1, stop: 'done' },
      scores: { greets: { value: score, weight: 1, reason: 'judge j: HTTP 429' } },
      episode: `${index}`.repeat(32),
    }
    await run.add(index, rollout, sampleEpisode({ id: rollout.episode, output: 'hello' }))
  }
  await run.close()
  const again = await rescoreRun(await openRun(at('old')), before, { folder: at('new'), id: 'new', prices: {}, missing: true })
  await before.close()
  const rollouts: Rollout[] = []
  for await (const rollout of again.rollouts()) rollouts.push(rollout)
  expect(rollouts.map(({ score }) => score)).toEqual([0.25, 1])
  const after = await environment('goodbye')
  const other = rescoreRun(await openRun(at('old')), after, { folder: at('other'), id: 'other', prices: {}, missing: true })
  await expect(other).rejects.toMatchObject({ code: 'run-mismatch', hint: expect.stringContaining('--missing') })
  await after.close()
  expect(fs.existsSync(at('other'))).toBe(false)
})
