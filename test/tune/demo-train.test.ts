// `npm run demo:train` in small: the same script, steps and commands, with a random model of two layers in the real one's place. That a real model gets better is the demo's own to show.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engineIsMissing } from '../support/engine.ts'
import { projectRoot } from '../support/project-files.ts'
import { python, pythonIsMissing } from '../support/python.ts'

const folder = path.join(projectRoot, '.homeground', 'demo-train-tiny')

describe.skipIf(pythonIsMissing || engineIsMissing)('npm run demo:train', () => {
  it('goes from traffic to a gate that holds a trained model against its base', { timeout: 900_000 }, async () => {
    const { code, stdout, stderr } = await demo('--tiny')
    expect(code, `${stdout}\n${stderr}`).toBe(0)
    // The expert solves the desk. A random model of six steps does not, and gets what the rubric gives whoever does nothing: but it answers, every time.
    const end: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    const number = expect.any(Number)
    expect(end).toEqual({
      verdict: expect.any(String),
      promoted: false,
      interval: [number, number],
      expert: 1,
      base: number,
      tuned: number,
    })
    const { expert, base, tuned } = z.object({ expert: z.number(), base: z.number(), tuned: z.number() }).parse(end)
    expect(expert).toBeGreaterThan(0.9)
    expect(Math.max(base, tuned)).toBeLessThan(0.5)
    expect(stdout).toContain('60 sessions, 96 messages, 95 rated helpful, 0 without an answer')
    expect(stdout).toContain('ok  errors: 0.0 %, at most 5.0 %')
    const model = JSON.parse(fs.readFileSync(path.join(folder, 'tuned', 'model.json'), 'utf8'))
    expect({ recipe: model.recipe, environments: model.environments.map(({ name }: { name: string }) => name) }).toEqual({
      recipe: 'sft',
      environments: ['desk'],
    })
    expect(fs.readFileSync(path.join(folder, 'tuned', 'README.md'), 'utf8')).toContain('desk')
  })
})

function demo(...given: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [path.join(projectRoot, 'scripts', 'demo-train.mjs'), ...given], {
    env: { ...process.env, HOMEGROUND_PYTHON: python },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...output }))
  })
}
