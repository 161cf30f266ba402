import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { estimateRun } from '../../../replay/run/estimate-run.ts'
import { buildThings } from '../support/things.ts'

let folder: string
let environment: Environment
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-estimate-'))
  await buildThings(folder, 3)
  environment = await openEnvironment(folder)
})
afterEach(async () => {
  await environment.close()
  fs.rmSync(folder, { recursive: true })
})

// Two calls a task, of 10 tokens in and 5 out each.
const prices = { cheap: { input: 1, output: 2 }, dear: { input: 100, output: 200 } }

test('takes each arm to make the recorded calls, at the price of its own model', async () => {
  const arms = [
    { name: 'a', model: 'cheap' },
    { name: 'b', model: 'dear' },
  ]
  const each = { rollouts: 6, modelCalls: 12, inputTokens: 120, outputTokens: 60 }
  expect(await estimateRun(environment, { arms, repeats: 2, prices })).toEqual({
    tasks: 3,
    read: 3,
    isGuessed: false,
    arms: [
      { ...arms[0], ...each, costUsd: expect.closeTo(0.00024, 10) },
      { ...arms[1], ...each, costUsd: expect.closeTo(0.024, 10) },
    ],
    costUsd: expect.closeTo(0.02424, 10),
  })
})

test('estimates nothing where nothing was recorded', async () => {
  await environment.close()
  fs.rmSync(path.join(folder, 'recordings.jsonl.gz'))
  environment = await openEnvironment(folder)
  const arm = { name: 'a', model: 'cheap' }
  expect(await estimateRun(environment, { arms: [arm], prices })).toEqual({
    tasks: 3,
    read: 0,
    isGuessed: false,
    arms: [{ ...arm, rollouts: 3, modelCalls: 0, inputTokens: 0, outputTokens: 0 }],
  })
})

test('refuses arms that make no run', async () => {
  await expect(estimateRun(environment, { arms: [], prices })).rejects.toMatchObject({ code: 'invalid-argument' })
  const twice = { name: 'a', model: 'cheap' }
  await expect(estimateRun(environment, { arms: [twice, twice], prices })).rejects.toMatchObject({ code: 'invalid-argument' })
})

test('says no cost where the model has no price, and counts the chosen tasks alone; what was recorded is free', async () => {
  const arms = [
    { name: 'a', model: 'nobody-knows' },
    { name: 'b', model: 'recorded' },
  ]
  const each = { rollouts: 1, modelCalls: 2, inputTokens: 20, outputTokens: 10 }
  expect(await estimateRun(environment, { arms, tasks: { limit: 1 }, prices })).toEqual({
    tasks: 1,
    read: 1,
    isGuessed: false,
    arms: [
      { ...arms[0], ...each },
      { ...arms[1], ...each, costUsd: 0 },
    ],
  })
})
