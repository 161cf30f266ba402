import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { assembleEpisodes, type Episode, type FeedbackRow, normaliseSpan } from '@homeground/sdk/trace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDeskModels } from '../../../examples/support-desk/offline/models.ts'
import { createServer } from '../../../examples/support-desk/server.ts'
import { drive } from '../../../examples/support-desk/traffic/drive.ts'
import { customerSessions } from '../../../examples/support-desk/traffic/sessions.ts'
import { buildEnvironment } from '../../../replay/environment/build.ts'
import { openEnvironment } from '../../../replay/environment/open.ts'
import type { HarnessSettings } from '../../../replay/environment/types.ts'
import { type Verification, verifyEnvironment } from '../../../replay/environment/verify.ts'
import { answer, client, exporter, hg, sessions, shop } from '../support/desk.ts'

const product = fileURLToPath(new URL('../support/desk.ts', import.meta.url))
let folder: string
let episodes: Episode[]

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-desk-'))
  const models = await startDeskModels({ port: 0 })
  client.baseURL = models.url
  const server = createServer({ hg, shop, sessions, answer }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await drive(customerSessions(), { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` })
  server.closeAllConnections()
  server.close()
  await models.close()
  await hg.flush()
  const feedback = exporter.feedback.map((said): FeedbackRow => ({ stepId: '', comment: '', ...said }) as FeedbackRow)
  episodes = assembleEpisodes(exporter.spans.map(normaliseSpan), feedback)
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

describe('the support desk', () => {
  test.each([
    ['its own agent function, message by message', 'module', { kind: 'module', module: `${product}#answer`, timeoutMs: 30_000 }, 'episode'],
    [
      'its own agent function, session by session',
      'session',
      { kind: 'module', module: `${product}#answer`, timeoutMs: 30_000 },
      'session',
    ],
    ['a loop', 'loop', { kind: 'loop', maxSteps: 20 }, 'episode'],
    ['single turns', 'turn', { kind: 'turn' }, 'turn'],
  ] as const)('is reproduced in full by %s', async (_, name, harness, unit) => {
    const report = await verified(name, harness, unit)
    expect(report.divergences).toEqual([])
    expect(report).toMatchObject({ tasks: name === 'session' ? 60 : episodes.length, share: 1, offTape: 0 })
  })
})
