import { beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../store/index.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanRow, traceId } from '../support/span-rows.ts'

describe.skipIf(engineIsMissing)('homeground erase', { timeout: 180_000 }, () => {
  const engine = useEngine()
  beforeAll(async () => {
    if (engineIsMissing) return
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans([spanRow({ project: 'p', traceId: traceId(1), user: 'ann' })])
    await store.registerEnvironment({
      project: 'p',
      name: 'desk',
      hash: 'h'.repeat(64),
      folder: '/envs/desk',
      builtAt: '2025-12-02T00:00:00.000Z',
      traces: [traceId(1)],
    })
    await store.close()
  })

  test('says what would go, does it with --yes, and names the environment that still holds it', async () => {
    const run = (...args: string[]) => homegroundCommand(['erase', '--project', 'p', '--folder', engine.folder, ...args])
    const look = await run('--user', 'ann')
    expect(look.stdout).toContain('would erase: 1 traces, 1 spans, 0 feedback')
    expect(look.stdout).toContain('nothing was erased')
    const done = await run('--user', 'ann', '--yes')
    expect(done.stdout).toContain('erased: 1 traces, 1 spans')
    expect(done.stdout).toContain('still held by environment desk (hhhhhhhhhhhh) in /envs/desk')
    const again = await run('--user', 'ann', '--session', 's')
    expect(again.code).toBe(2)
  })
})
