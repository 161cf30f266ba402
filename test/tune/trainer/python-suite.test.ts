// The Python package has its own tests (tune/trainer/tests); here they run as one of ours, in one Python process, since importing torch is what costs.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { pythonVariables } from '../../../tune/train/index.ts'
import { projectRoot } from '../../support/project-files.ts'
import { python, pythonIsMissing } from '../../support/python.ts'

const folder = path.join(projectRoot, 'tune', 'trainer')

describe.skipIf(pythonIsMissing)('the Python package', () => {
  it('passes its own tests', { timeout: 900_000 }, () => {
    const ended = spawnSync(python, ['-m', 'pytest', '-p', 'no:cacheprovider'], { cwd: folder, env: pythonVariables(), encoding: 'utf8' })
    expect(`${ended.stdout}${ended.stderr}`).toMatch(/\d+ passed/)
    expect(ended.status, ended.stdout.slice(-4000)).toBe(0)
  })

  it('is linted and formatted', { timeout: 60_000 }, () => {
    for (const given of [
      ['check', '.'],
      ['format', '--check', '.'],
    ]) {
      const ended = spawnSync(python, ['-m', 'ruff', ...given, '--no-cache'], { cwd: folder, encoding: 'utf8' })
      expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0)
    }
  })
})
