// A run that is killed with SIGKILL at each of its writes in turn, in the middle of a line, of a rename, of the last putting in order: what goes on ends byte for byte as if nothing had been.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnvironment } from '../../../replay/environment/open.ts'
import { runRollouts } from '../../../replay/run/run-rollouts.ts'
// @ts-expect-error: shared with a program that has no types
import { runOptions } from '../support/killed-run-options.mjs'
import { buildThings } from '../support/things.ts'

const program = fileURLToPath(new URL('../support/killed-run.mjs', import.meta.url))
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-every-write-'))
  await buildThings(path.join(folder, 'env'), 2)
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

function playKilled(name: string, killAt: number): { signal: string | null; writes: number } {
  const child = spawnSync(process.execPath, [program, path.join(folder, 'env'), path.join(folder, name)], {
    encoding: 'utf8',
    env: { ...process.env, KILL_AT: String(killAt) },
  })
  if (child.signal === null && child.status !== 0) throw new Error(child.stderr)
  return { signal: child.signal, writes: Number(child.stdout) }
}

/** Every file's bytes, but for the moment at which the run began. */
function bytesOf(name: string): Record<string, string> {
  const files = fs.readdirSync(path.join(folder, name)).sort()
  return Object.fromEntries(
    files.map((file) => [file, fs.readFileSync(path.join(folder, name, file), 'utf8').replace(/"startedAt": "[^"]*"/, '')]),
  )
}

test('a run killed at any of its writes goes on to the same bytes', { timeout: 300_000 }, async () => {
  const { writes } = playKilled('whole', 0)
  const whole = bytesOf('whole')
  expect(Object.keys(whole)).toEqual(['episodes.jsonl', 'rollouts.jsonl', 'run.json'])
  // The lock, run.json, two lines a rollout, both files in order.
  expect(writes).toBeGreaterThan(12)
  const environment = await openEnvironment(path.join(folder, 'env'))
  try {
    for (let at = 1; at <= writes; at += 1) {
      const name = `killed-${at}`
      // The order in which rollouts end decides whether the files must be put in order, and with it how many writes there are.
      const { signal } = playKilled(name, at)
      if (signal === null) continue
      expect(signal).toBe('SIGKILL')
      await runRollouts(environment, { ...runOptions, folder: path.join(folder, name) })
      expect([at, bytesOf(name)]).toEqual([at, whole])
    }
  } finally {
    await environment.close()
  }
})
