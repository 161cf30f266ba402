import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { engineIsMissing } from '../support/engine.ts'
import { projectRoot } from '../support/project-files.ts'
import { python, pythonIsMissing } from '../support/python.ts'

describe.skipIf(pythonIsMissing || engineIsMissing)('demo:train --tiny', () => {
  it('goes all the way: traffic, environment, rows, training, and a gate through the product’s own code', { timeout: 900_000 }, () => {
    const ended = spawnSync(process.execPath, [path.join(projectRoot, 'scripts', 'demo-train.mjs'), '--tiny'], {
      env: { ...process.env, HOMEGROUND_PYTHON: python },
      encoding: 'utf8',
    })
    expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0)
    const last: unknown = JSON.parse(ended.stdout.trim().split('\n').at(-1) ?? '')
    const number = expect.any(Number)
    expect(last).toEqual({
      verdict: expect.stringMatching(/^(better|worse|equivalent|inconclusive)$/),
      promoted: expect.any(Boolean),
      interval: [number, number],
      expert: number,
      base: number,
      tuned: number,
    })
  })
})
