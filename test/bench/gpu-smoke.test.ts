// The script for a machine with a GPU, played here on the CPU with a random model of two layers: that it works on CUDA is its own to show, that it has not rotted is shown here.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { makeModel } from '../../tune/train/index.ts'
import { projectRoot } from '../support/project-files.ts'
import { python, pythonIsMissing } from '../support/python.ts'

const script = path.join(projectRoot, 'bench', 'gpu-smoke.sh')
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-gpu-smoke-test-'))
afterAll(() => fs.rmSync(work, { recursive: true, force: true }))

const run = (given: string[], env: NodeJS.ProcessEnv = process.env) =>
  promisify(execFile)('bash', [script, ...given], { timeout: 280_000, env }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )

describe.skipIf(pythonIsMissing)('bench/gpu-smoke.sh on the CPU', () => {
  it('trains by SFT and by GRPO through the harness, and says how fast', { timeout: 300_000 }, async () => {
    const model = path.join(work, 'tiny')
    await makeModel({ python, which: 'tiny', folder: model })
    const { code, stdout, stderr } = await run(['--model', model, '--python', python, '--device', 'cpu', '--work', path.join(work, 'run')])
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    const number = expect.any(Number)
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
      bench: 'gpu-smoke',
      sft: { loss: { first: number, last: number }, tokensPerSecond: number },
      grpo: { rewards: Array(8).fill(number), logprobGap: number, rolloutsPerSecond: number },
      seconds: number,
      passed: true,
    })
  })
})

describe('bench/gpu-smoke.sh', () => {
  it('says what is missing before it begins', async () => {
    expect(await run(['--python', 'sh'])).toEqual({ code: 2, stdout: '', stderr: 'gpu-smoke: give --model FOLDER\n' })
    expect(await run(['--model', work])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gpu-smoke: give --wheels FOLDER or --python PYTHON\n',
    })
    expect(await run(['--model', work, '--python', 'no-such-python'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gpu-smoke: there is no no-such-python\n',
    })
    expect(await run(['--modle', work])).toEqual({ code: 2, stdout: '', stderr: 'gpu-smoke: unknown option --modle\n' })
  })
})
