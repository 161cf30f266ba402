// A run as a whole: what it refuses, where it stops, and how it goes on to the same end.
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { compareRun } from '../../../replay/compare/index.ts'
import { runRollouts } from '../../../replay/run/run-rollouts.ts'
import { arms, clerk, endpoint, environment, folder, linesOf, open, run, withoutTimes } from '../support/clerk-runs.ts'

test('leaves no folder where whoever is told of its progress throws before it has begun', async () => {
  const options = { arms: [{ name: 'a', model: 'recorded' }], folder: path.join(folder, 'told'), homeground: '0.1.0' }
  const onProgress = () => {
    throw new Error('not told')
  }
  await expect(runRollouts(await open(['one']), { ...options, onProgress })).rejects.toThrow('not told')
  expect(fs.existsSync(options.folder)).toBe(false)
  await runRollouts(environment, options)
})

test('refuses settings that no run can have before it asks a model or writes a file', async () => {
  await open(['a'])
  let asked = 0
  const ask = () => {
    asked += 1
    return {}
  }
  await expect(run({ repeats: 0 }, ask)).rejects.toMatchObject({ code: 'invalid-argument', message: expect.stringContaining('repeats') })
  expect([asked, fs.existsSync(path.join(folder, 'run'))]).toEqual([0, false])
})

test('gives the same rollouts, less timings, with any concurrency', async () => {
  await open(['a', 'b', 'c', 'd', 'e'])
  await run({ repeats: 2, concurrency: 1, folder: path.join(folder, 'one') })
  await run({ repeats: 2, concurrency: 8, folder: path.join(folder, 'eight') })
  const read = (name: string) => withoutTimes(fs.readFileSync(path.join(folder, name, 'rollouts.jsonl'), 'utf8'))
  expect(read('eight')).toBe(read('one'))
})

test('goes on where it stopped, with a torn last line, and runs no finished rollout twice', async () => {
  await open(['a', 'b', 'c'])
  await run({ folder: path.join(folder, 'whole') })
  await run()
  const file = (name: string) => path.join(folder, 'run', name)
  const lines = fs.readFileSync(file('rollouts.jsonl'), 'utf8').split('\n')
  const episodes = fs.readFileSync(file('episodes.jsonl'), 'utf8').split('\n')
  // Two are there, of the third only the episode and the beginning of its line.
  fs.writeFileSync(file('rollouts.jsonl'), `${lines[3]}\n${lines[0]}\n${lines[1]?.slice(0, 40)}`)
  fs.writeFileSync(file('episodes.jsonl'), `${episodes[3]}\n${episodes[0]}\n${episodes[1]}\n${episodes[2]?.slice(0, 99)}`)
  const seen: Record<string, unknown>[] = []
  const done = await run({ deps: { fetch: endpoint((messages, body) => clerk(messages, body['model'] === 'm2'), seen) } })
  expect(done.size).toEqual({ planned: 6, done: 6 })
  expect(withoutTimes(fs.readFileSync(file('rollouts.jsonl'), 'utf8'))).toBe(
    withoutTimes(fs.readFileSync(path.join(folder, 'whole', 'rollouts.jsonl'), 'utf8')),
  )
  const ids: string[] = []
  for await (const episode of done.episodes()) ids.push(episode.id)
  expect(ids).toEqual((await linesOf()).map((line) => line.episode))
  // 6 rollouts of 3 or 4 calls, 2 of them there already.
  expect(new Set(seen.map((body) => body['model']))).toEqual(new Set(['m1', 'm2']))
  expect(seen.length).toBe(2 * 4 + 2 * 3)
})

test('stops on a signal and says how to go on', async () => {
  await open(['a', 'b', 'c'])
  const controller = new AbortController()
  const stopped = run({ concurrency: 1, signal: controller.signal, onProgress: ({ done }) => done === 2 && controller.abort() })
  await expect(stopped).rejects.toMatchObject({ code: 'interrupted', message: expect.stringContaining('2 of 6') })
  expect((await run()).size).toEqual({ planned: 6, done: 6 })
})

test('begins nothing more once its money is spent, counts what earlier calls spent, and goes on with more', async () => {
  await open(['a', 'b', 'c'])
  const prices = { m1: { input: 1, output: 1 }, m2: { input: 1, output: 1 } }
  // 28 + 12 tokens a careful rollout: 40 millionths of a dollar.
  const poor = { concurrency: 1, prices, maxCostUsd: 0.00007 }
  const spent: number[] = []
  const first = await run({ ...poor, onProgress: ({ spentUsd }) => spent.push(Math.round(spentUsd * 1e6)) })
  expect([first.size, spent]).toEqual([{ planned: 6, done: 2 }, [0, 40, 70]])
  const again = await run(poor)
  expect(again.size).toEqual({ planned: 6, done: 2 })
  expect(await compareRun(again)).toMatchObject({ pairs: [{ verdict: { word: 'none', reason: 'unfinished' } }] })
  expect((await run({ ...poor, maxCostUsd: 1 })).size).toEqual({ planned: 6, done: 6 })
})

test('keeps no limit that it cannot count: a model without a price, an answer without token counts', async () => {
  await open(['a'])
  await expect(run({ maxCostUsd: 1, prices: { m1: { input: 1, output: 1 } } })).rejects.toMatchObject({
    code: 'invalid-settings',
    message: 'the cost of m2 is not known, so no limit can be kept',
  })
  const uncounted: typeof fetch = async () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] })
  const alone = { arms: arms.slice(0, 1), prices: { m1: { input: 1, output: 1 } }, folder: path.join(folder, 'uncounted') }
  await expect(run({ ...alone, maxCostUsd: 1, deps: { fetch: uncounted } })).rejects.toMatchObject({ code: 'invalid-settings' })
  expect((await run({ ...alone, deps: { fetch: uncounted } })).size.done).toBe(1)
})

test('refuses to go on with other settings, to fill a foreign folder and to share a run', async () => {
  await open(['a'])
  await run()
  await expect(run({ repeats: 2 })).rejects.toMatchObject({ code: 'run-mismatch', message: expect.stringContaining('repeats') })
  await expect(run({ arms: [] })).rejects.toMatchObject({ code: 'invalid-argument' })
  fs.writeFileSync(path.join(folder, 'run', 'run.lock'), '1')
  await expect(run()).rejects.toMatchObject({ code: 'invalid-argument', message: expect.stringContaining('process 1') })
  await expect(run({ folder: path.join(folder, 'env') })).rejects.toMatchObject({ code: 'invalid-argument' })
})
