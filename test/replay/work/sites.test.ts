import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { files, readSettings } from '../../../replay/environment/open.ts'
import { sealEnvironment } from '../../../replay/environment/seal.ts'
import { systemDeps } from '../../../replay/run/system-deps.ts'
import type { Job } from '../../../replay/work/messages.ts'
import { openSites } from '../../../replay/work/sites.ts'
import { episodeOf, text } from '../support/episodes.ts'

let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-sites-'))
  for (const name of ['one', 'two'])
    await buildEnvironment([episodeOf(name, [text('user', `Hello ${name}`), text('assistant', 'Hi')])], {
      name,
      folder: path.join(folder, name),
      homeground: '0.1.0',
      harness: { kind: 'loop', maxSteps: 2 },
    })
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

function jobOf(name: string): Job {
  const { file } = readSettings(path.join(folder, name))
  const task: string = JSON.parse(fs.readFileSync(path.join(folder, name, 'tasks.jsonl'), 'utf8').split('\n')[0] ?? '').id
  return {
    format: 1,
    run: 'r',
    handOut: 'h',
    index: 0,
    environment: { name, folder: '/not/on/this/machine', hash: file.hash },
    harness: file.harness,
    seed: 1,
    allowLive: [],
    task,
    arm: { name: 'a', model: 'recorded' },
    repeat: 0,
  }
}

const sitesOf = (...folders: string[]) => openSites({ folders, concurrency: 1, prices: {}, deps: systemDeps() })

test('plays in the folder that has the hash of the run, whatever its path', async () => {
  const sites = sitesOf(path.join(folder, 'two'), path.join(folder, 'one'))
  const { rollout } = await sites.play(jobOf('one'))
  expect(rollout).toMatchObject({ task: jobOf('one').task, arm: 'a', repeat: 0, stop: 'done', offTape: { count: 0 } })
  await sites.close()
})

test('says what it found where the environment is not there, and plays once it is', async () => {
  const place = path.join(folder, 'moving')
  const sites = sitesOf(path.join(folder, 'two'), place)
  await expect(sites.play(jobOf('one'))).rejects.toMatchObject({
    code: 'run-mismatch',
    message: expect.stringMatching(/two holds two with hash \w{12}; .*moving is not there; \/not\/on\/this\/machine is not there$/),
  })
  fs.cpSync(path.join(folder, 'one'), place, { recursive: true })
  expect((await sites.play(jobOf('one'))).rollout.stop).toBe('done')
  await sites.close()
})

test('refuses a copy whose tools are answered in another way', async () => {
  const place = path.join(folder, 'other')
  fs.cpSync(path.join(folder, 'one'), place, { recursive: true })
  const { file } = readSettings(place)
  fs.writeFileSync(
    path.join(place, files.settings),
    JSON.stringify({ ...file, tools: { look: { effect: 'read', mode: 'live', onMiss: 'error' } } }),
  )
  await sealEnvironment(place)
  const sites = sitesOf(place)
  await expect(sites.play(jobOf('one'))).rejects.toMatchObject({ message: expect.stringMatching(/other holds one with hash \w{12}/) })
  await sites.close()
})

test('asks a model once for what its cache holds, whoever hands the job out', async () => {
  let asked = 0
  const fetch = async (): Promise<Response> => {
    asked += 1
    return Response.json({ model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] })
  }
  const job = { ...jobOf('one'), arm: { name: 'a', model: 'm', url: 'http://model.invalid/v1' } }
  for (const [run, cachedCalls] of [
    ['first', undefined],
    ['second', 1],
  ] as const) {
    const cache = { folder: path.join(folder, 'cache') }
    const sites = openSites({ folders: [path.join(folder, 'one')], concurrency: 1, prices: {}, deps: { ...systemDeps(), fetch }, cache })
    const { rollout } = await sites.play({ ...job, run })
    expect([rollout.stop, rollout.cachedCalls]).toEqual(['done', cachedCalls])
    await sites.close()
  }
  expect(asked).toBe(1)
})
