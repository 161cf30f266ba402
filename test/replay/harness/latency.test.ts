// How long recorded tools take: no time, what they took, or a factor of it.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { moduleSeam } from '../../../replay/harness/module-seam.ts'
import { toolAnswers } from '../../../replay/harness/tool-answers.ts'
import type { Play } from '../../../replay/harness/types.ts'
import { systemTimers, VirtualClock } from '../../../replay/harness/virtual/virtual-clock.ts'
import { runRollouts } from '../../../replay/run/run-rollouts.ts'
import { Tape } from '../../../replay/tape/tape.ts'
import { calls, episodeOf, result, text, toolSpan } from '../support/episodes.ts'

let folder: string
let environment: Environment
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-latency-'))
  const looked = episodeOf(
    'looked',
    [
      text('user', 'moon'),
      calls({ id: 'c1', name: 'look', arguments: { at: 'moon' } }, { id: 'c2', name: 'look', arguments: { at: 'sun' } }),
      result('c1', 'bright'),
      result('c2', 'Error: blinded'),
      text('assistant', 'I see.'),
    ],
    {
      tools: [
        toolSpan('look', { at: 'moon' }, 6, { callId: 'c1', result: 'bright', durationMs: 400 }),
        toolSpan('look', { at: 'sun' }, 7, { callId: 'c2', error: { type: 'Error', message: 'blinded' }, durationMs: 100 }),
      ],
    },
  )
  const out = path.join(folder, 'env')
  await buildEnvironment([looked], { name: 'looker', folder: out, homeground: '0.1.0', harness: { kind: 'loop', maxSteps: 5 } })
  environment = await openEnvironment(out)
})
afterEach(async () => {
  await environment.close()
  fs.rmSync(folder, { recursive: true })
})

async function waits(name: string, latency?: number): Promise<{ waited: number[]; latency: unknown }> {
  const waited: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    waited.push(ms)
  }
  const arms = [{ name: 'a', model: 'recorded' }]
  const options = { arms, folder: path.join(folder, name), homeground: '0.1.0', deps: { sleep } }
  const run = await runRollouts(environment, { ...options, ...(latency === undefined ? {} : { latency }) })
  for await (const rollout of run.rollouts()) expect(rollout).toMatchObject({ stop: 'done', offTape: { count: 0 } })
  return { waited, latency: run.file.latency }
}

test('a loop waits for nothing by default, and as long as was recorded, or a factor of it, where it is asked to', async () => {
  expect(await waits('none')).toEqual({ waited: [], latency: undefined })
  expect(await waits('recorded', 1)).toEqual({ waited: [400, 100], latency: 1 })
  expect(await waits('scaled', 0.25)).toEqual({ waited: [100, 25], latency: 0.25 })
})

test('a run goes on with the latency that it began with only', async () => {
  await waits('run', 1)
  await expect(waits('run', 2)).rejects.toMatchObject({ code: 'run-mismatch', message: expect.stringContaining('latency') })
})

test.each([
  [undefined, 500],
  [1, 500],
  [3, 1_500],
])("the product's own clock moves by what was recorded, times %s, for results and for errors, and nobody waits", async (latency, moved) => {
  const [id] = await idsOf(environment)
  const { entries } = await environment.tape(id ?? '')
  const failing = entries.map((entry) => (entry.callId === 'c2' ? { ...entry, error: { type: 'Error', message: 'blinded' } } : entry))
  const tape = new Tape(failing, { tools: {} })
  const clock = new VirtualClock(Date.parse('2026-01-05T10:00:00.000Z'), systemTimers)
  const tools = toolAnswers({ tape, folder, stop: () => {}, ...(latency === undefined ? {} : { latency }) })
  // All that the seam reads of a play where no model is asked.
  const seam = moduleSeam({ job: { arm: {} }, tape, tools, clock } as unknown as Play, () => 0.5)
  const call = { name: 'look', callId: undefined, effect: 'read' as const, agents: ['a'], live: async () => 'never' }
  expect(await seam.tool?.({ ...call, arguments: { at: 'moon' } })).toBe('bright')
  await expect(seam.tool?.({ ...call, arguments: { at: 'sun' } })).rejects.toThrow('blinded')
  expect(clock.elapsedMs()).toBe(moved)
  clock.close()
})

async function idsOf({ tasks }: Environment): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of tasks()) ids.push(id)
  return ids
}
