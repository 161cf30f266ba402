// Any model under any client: the same scripted model behind endpoints of three dialects, under a product of OpenAI's client and one of Anthropic's.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ModelServer, startModelServer } from '@homeground/sdk/testing'
import { dialectOf, type Episode, isJson, type Json } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deskModels } from '../../../examples/support-desk/offline/models.ts'
import { readConversation } from '../../../examples/support-desk/offline/reading.ts'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { runRollouts } from '../../../replay/run/run-rollouts.ts'
import type { Arm, Rollout } from '../../../replay/run/types.ts'
import { recordDesk } from '../support/recorded-desk.ts'

let folder: string
let episodes: Episode[]
let server: ModelServer

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-dialects-'))
  episodes = await recordDesk()
  server = await startModelServer({
    policy: ({ api, body }) => {
      const asked = dialectOf(api)?.readRequest(isJson(body) ? body : {})
      const move = deskModels['desk-expert']?.(readConversation(asked && dialectOf('openai.chat')?.writeRequest(asked)))
      if (move === undefined) throw new Error('there is no such model')
      return 'says' in move ? move.says : { content: null, toolCalls: move.calls.map((call) => ({ ...call })) }
    },
  })
})
afterAll(async () => {
  await server.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

interface Seen {
  rollout: Pick<Rollout, 'score' | 'offTape' | 'stop'>
  calls: { name: string; arguments: Json; result?: Json }[]
  output: Json | undefined
}

/** What each arm did, task by task. */
async function played(product: string): Promise<Map<string, Seen[]>> {
  const name = path.basename(product, '.ts')
  const module = `${fileURLToPath(new URL(`../support/${product}`, import.meta.url))}#answer`
  await buildEnvironment(episodes.slice(0, 40), {
    name,
    folder: path.join(folder, name),
    homeground: '0.1.0',
    harness: { kind: 'module', module, timeoutMs: 30_000 },
  })
  const environment = await openEnvironment(path.join(folder, name))
  const arms: Arm[] = [
    { name: 'chat', model: 'm', url: server.url },
    { name: 'responses', model: 'm', url: server.url, api: 'openai.responses' },
    { name: 'messages', model: 'm', url: server.url, api: 'anthropic.messages' },
  ]
  const run = await runRollouts(environment, { arms, folder: path.join(folder, `${name}-run`), homeground: '0.1.0', threads: 0 })
  const byEpisode = new Map<string, Rollout>()
  for await (const rollout of run.rollouts()) byEpisode.set(rollout.episode, rollout)
  const seen = new Map<string, Seen[]>()
  for await (const episode of run.episodes()) {
    const rollout = byEpisode.get(episode.id)
    if (rollout === undefined) throw new Error('an episode without its rollout')
    expect(rollout.untranslated).toBeUndefined()
    const calls = episode.steps.flatMap((step) =>
      step.kind === 'tool'
        ? [{ name: step.name, arguments: step.arguments, ...(step.result === undefined ? {} : { result: step.result }) }]
        : [],
    )
    const { score, offTape, stop } = rollout
    const list = seen.get(rollout.arm) ?? []
    seen.set(rollout.arm, [...list, { rollout: { score, offTape, stop }, calls, output: episode.output }])
  }
  await environment.close()
  return seen
}

describe('a model behind endpoints of three dialects', { timeout: 180_000 }, () => {
  test.each([
    ["OpenAI's client", 'desk.ts'],
    ["Anthropic's client", 'anthropic-desk.ts'],
  ])('makes the same tool calls and gets the same scores under a product of %s', async (_, product) => {
    const arms = await played(product)
    const chat = arms.get('chat')
    expect(chat?.length).toBe(40)
    expect(chat?.every(({ rollout }) => rollout.stop === 'done' && rollout.offTape.count === 0)).toBe(true)
    expect(chat?.flatMap(({ calls }) => calls).length).toBeGreaterThan(20)
    expect(chat?.some(({ rollout }) => rollout.score !== null)).toBe(true)
    expect(arms.get('responses')).toEqual(chat)
    expect(arms.get('messages')).toEqual(chat)
  })
})
