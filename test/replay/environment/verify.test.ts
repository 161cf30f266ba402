import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Episode } from '@homeground/sdk/trace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { HarnessSettings } from '../../../replay/environment/types.ts'
import { type Verification, verifyEnvironment } from '../../../replay/environment/verify.ts'
import { airlineEpisodes, calls, episodeOf, result, text } from '../support/episodes.ts'

const product = fileURLToPath(new URL('../support/airline-product.ts', import.meta.url))
const program = fileURLToPath(new URL('../support/airline-program.mjs', import.meta.url))
let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-verify-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const loop: HarnessSettings = { kind: 'loop', maxSteps: 60 }

async function verified(episodes: Episode[], harness?: HarnessSettings): Promise<Verification> {
  await buildEnvironment(episodes, { name: 'env', folder: path.join(folder, 'env'), homeground: '0.1.0', ...(harness ? { harness } : {}) })
  const environment = await openEnvironment(path.join(folder, 'env'))
  try {
    return await verifyEnvironment(environment, { threads: 0 })
  } finally {
    await environment.close()
  }
}

/** What the product was given, had it been one: the policy, and what the customer said. */
function withInput(episode: Episode): Episode {
  const last = episode.steps.findLast((step) => step.kind === 'model')
  const messages = last?.kind === 'model' ? last.request.messages : []
  const said = (role: string) =>
    messages
      .filter((message) => message.role === role)
      .map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : '')).join(''))
  return { ...episode, input: { policy: said('system')[0] ?? '', said: said('user') } }
}

describe('verifyEnvironment', { timeout: 120_000 }, () => {
  test('reproduces all 200 recorded airline episodes in a loop, none off the tape', async () => {
    const report = await verified(airlineEpisodes(), loop)
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: 200, reproduced: 200, share: 1, offTape: 0 })
  })

  test('reproduces each of their user turns by itself', async () => {
    const report = await verified(airlineEpisodes())
    expect(report.divergences).toEqual([])
    expect(report.tasks).toBeGreaterThan(1_000)
    expect(report).toMatchObject({ share: 1, offTape: 0 })
  })

  test("reproduces all 200 through a product's own client, loop and tools", async () => {
    const report = await verified(airlineEpisodes().map(withInput), { kind: 'module', module: `${product}#agent`, timeoutMs: 60_000 })
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: 200, reproduced: 200, share: 1, offTape: 0 })
  })

  // A process a task.
  test('reproduces all 200 by a program without the SDK, in a process of its own', { timeout: 400_000 }, async () => {
    const harness: HarnessSettings = { kind: 'command', command: [process.execPath, program], timeoutMs: 60_000 }
    const report = await verified(airlineEpisodes().map(withInput), harness)
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: 200, reproduced: 200, share: 1, offTape: 0 })
  })

  test('names a recording that ends in mid-run', async () => {
    const cut = episodeOf('cut', [
      text('user', 'hi'),
      calls({ id: 'a', name: 'f', arguments: {} }),
      result('a', 'x'),
      text('assistant', 'bye'),
    ])
    const report = await verified([{ ...cut, steps: cut.steps.slice(0, 1) }], loop)
    expect(report.divergences).toMatchObject([{ step: 2, cause: 'cut-recording' }])
  })

  test('plays the main conversation of a recording that has a side call beside it', async () => {
    const main = episodeOf('main', [text('user', 'hi'), text('assistant', 'hello')])
    const side = episodeOf('side', [text('system', 'Classify.'), text('user', 'hi'), text('assistant', 'greeting')])
    const report = await verified([{ ...main, steps: [...main.steps, ...side.steps] }], loop)
    expect(report.causes).toEqual({})
    expect(report.share).toBe(1)
  })
})
