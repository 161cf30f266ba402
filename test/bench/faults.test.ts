import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { engineIsMissing } from '../support/engine.ts'
import { kafkaIsMissing } from '../support/kafka.ts'
import { projectRoot } from '../support/project-files.ts'

describe.skipIf(engineIsMissing || kafkaIsMissing)('the fault run, in short', () => {
  test('loses and doubles nothing that was acknowledged over four kills of receiver, ingester, broker or engine', {
    timeout: 420_000,
  }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/faults/run.mjs', '--kills', '4'], {
      cwd: projectRoot,
      timeout: 400_000,
    })
    const result: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(result, stdout).toMatchObject({ kills: 4, lost: 0, doubled: 0, memoryBounded: true, acknowledged: expect.any(Number) })
    expect((result as { acknowledged: number }).acknowledged, stdout).toBeGreaterThan(100)
  })
})
