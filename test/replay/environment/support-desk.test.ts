import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Episode } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { HarnessSettings } from '../../../replay/environment/types.ts'
import { type Verification, verifyEnvironment } from '../../../replay/environment/verify.ts'
import { recordDesk } from '../support/recorded-desk.ts'

const product = fileURLToPath(new URL('../support/desk.ts', import.meta.url))
const program = fileURLToPath(new URL('../support/desk-program.mjs', import.meta.url))
let folder: string
let episodes: Episode[]

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-desk-'))
  episodes = await recordDesk()
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

async function verified(name: string, harness: HarnessSettings, unit: 'episode' | 'session' | 'turn'): Promise<Verification> {
  await buildEnvironment(episodes, { name, folder: path.join(folder, name), homeground: '0.1.0', harness, unit })
  const environment = await openEnvironment(path.join(folder, name))
  try {
    return await verifyEnvironment(environment, { threads: 0 })
  } finally {
    await environment.close()
  }
}

// A process a task takes its time: a second of CPU each.
describe('the support desk', { timeout: 400_000 }, () => {
  test.each<[string, string, HarnessSettings, 'episode' | 'session' | 'turn']>([
    ['its own agent function, message by message', 'module', { kind: 'module', module: `${product}#answer`, timeoutMs: 30_000 }, 'episode'],
    [
      'its own agent function, session by session',
      'session',
      { kind: 'module', module: `${product}#answer`, timeoutMs: 30_000 },
      'session',
    ],
    [
      'a program of its own, message by message',
      'command',
      { kind: 'command', command: [process.execPath, program], timeoutMs: 60_000 },
      'episode',
    ],
    ['a loop', 'loop', { kind: 'loop', maxSteps: 20 }, 'episode'],
    ['single turns', 'turn', { kind: 'turn' }, 'turn'],
  ])('is reproduced in full by %s', async (_, name, harness, unit) => {
    const report = await verified(name, harness, unit)
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: name === 'session' ? 60 : episodes.length, share: 1, offTape: 0 })
  })
})
