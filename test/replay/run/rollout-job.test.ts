import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { sealEnvironment } from '../../../replay/environment/seal.ts'
import { rolloutJob } from '../../../replay/run/rollout-job.ts'
import { TaskSource } from '../../../replay/run/task-source.ts'
import { airlineEpisodes } from '../support/episodes.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rollout-job-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('a job has all that the environment says, its simulator too, and what the caller says in its place', async () => {
  await buildEnvironment(airlineEpisodes(1), { name: 'air', folder, homeground: '0', harness: { kind: 'loop', maxSteps: 5 } })
  const settings = path.join(folder, 'env.json')
  const simulator = { model: 'simulator', url: 'http://127.0.0.1:9/v1' }
  fs.writeFileSync(settings, JSON.stringify({ ...JSON.parse(fs.readFileSync(settings, 'utf8')), simulator }))
  await sealEnvironment(folder)
  const environment = await openEnvironment(folder)
  const tasks = new TaskSource(environment, { recordings: false })
  let id = ''
  for await (const task of environment.tasks()) id = task.id
  const given = { arm: { name: 'a', model: 'm' }, repeat: 2, run: 'r', seed: 7, allowLive: ['book'] }
  const job = await rolloutJob(environment, tasks, id, given)
  expect(job).toEqual({
    ...(await tasks.get(id)),
    folder: environment.folder,
    project: environment.file.provenance.projects[0],
    unit: 'episode',
    harness: { kind: 'loop', maxSteps: 5 },
    tools: environment.file.tools,
    simulator,
    ...given,
  })
  expect((await rolloutJob(environment, tasks, id, { ...given, tools: {} })).tools).toEqual({})
  await environment.close()
})
