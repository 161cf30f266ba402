import path from 'node:path'
import type { ModelServer } from '@homeground/sdk/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCrowd } from '../../../examples/wordle-mini/offline/crowd.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { Environment } from '../../../replay/environment/types.ts'
import { type PlayedRollout, type RolloutService, serveRollouts } from '../../../tune/rollout-service/index.ts'
import { projectRoot } from '../../support/project-files.ts'

let policy: ModelServer
let environment: Environment
let service: RolloutService

beforeAll(async () => {
  policy = await startCrowd()
  environment = await openEnvironment(path.join(projectRoot, 'examples', 'wordle-mini', 'env'))
  service = await serveRollouts({ environment, concurrency: 4 })
})
afterAll(async () => {
  await service.close()
  await environment.close()
  await policy.close()
})

async function play(body: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${service.url}/rollouts`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}

function batch(tasks: readonly string[], url = policy.url.replace('/v1', '/s/{id}/v1')) {
  return { format: 1, policy: url, step: 3, rollouts: tasks.map((task, repeat) => ({ id: `r-${repeat}`, task, repeat })) }
}

const linesOf = (text: string): PlayedRollout[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('the rollout service', () => {
  it('says what it plays', async () => {
    const answer = await fetch(`${service.url}/environment`)
    expect(await answer.json()).toEqual({ name: 'wordle-mini', hash: environment.file.hash, tapeBound: false })
  })

  it("plays the product's own code with the policy as its model, each rollout at an address of its own", async () => {
    const tasks = ['train-tap', 'train-bed', 'train-tap', 'train-rat', 'train-ace', 'train-art']
    const rollouts = linesOf((await play(batch(tasks))).text).sort((a, b) => a.id.localeCompare(b.id))
    expect(rollouts.map(({ id, task }) => [id, task])).toEqual(tasks.map((task, index) => [`r-${index}`, task]))
    for (const { criteria, score, offTape, stop } of rollouts) {
      const { solved, fair } = criteria
      expect({ score, offTape, stop }).toEqual({
        score: 0.8 * (solved ?? Number.NaN) + 0.2 * (fair ?? Number.NaN),
        offTape: 0,
        stop: 'done',
      })
    }
    const asked = new Set(policy.requests.map((request) => request.path))
    for (const index of tasks.keys()) expect(asked).toContain(`/s/r-${index}/v1/chat/completions`)
    expect(policy.requests.at(-1)?.body['model']).toBe('policy')
  })

  it('gives what broke off no score, and what played beside it its own', async () => {
    const broken = { ...batch(['train-tap']), policy: 'http://127.0.0.1:9/{id}' }
    const [rollout] = linesOf((await play(broken)).text)
    expect(rollout).toMatchObject({ id: 'r-0', score: null, criteria: { solved: null, fair: null }, stop: 'error' })
    expect(rollout?.error?.message).toContain('did not answer')
  }, 60_000)

  it.each([
    ['a task of another split', () => batch(['train-tap', 'test-tap']), 'task test-tap is of the split test'],
    ['a task that is not there', () => batch(['nobody']), 'task nobody is not in the environment'],
    ['a policy without a place for the id', () => batch(['train-tap'], 'http://127.0.0.1:1/v1'), 'expected {id} in it'],
    ['what is not JSON', () => '{', 'not JSON'],
  ])('refuses %s before anything is played', async (_what, body, words) => {
    const { status, text } = await play(body())
    expect([status, text.includes(words)]).toEqual([400, true])
  })

  it('is closed to whoever has not its key', async () => {
    const answer = await fetch(`${new URL(service.url).origin}/0123/rollouts`, {
      method: 'POST',
      body: JSON.stringify(batch(['train-tap'])),
    })
    expect(answer.status).toBe(404)
  })
})
