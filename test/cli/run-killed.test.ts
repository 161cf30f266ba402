// `homeground run` killed with SIGKILL in mid-rollout, again and again: what stands at the end is what an undisturbed run gives.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelServer } from '@homeground/sdk/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildThings, startThingsModel } from '../replay/support/things.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let folder: string
let server: ModelServer
/** Told of each request that the server gets. */
let onRequest = () => {}

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-killed-'))
  await buildThings(path.join(folder, 'env'), 12)
  server = await startThingsModel({ delayMs: 15, onRequest: () => onRequest() })
})
afterAll(async () => {
  await server.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Resolves with the exit code, or the signal; killed after so many requests, and a random moment more. */
async function play(out: string, concurrency: number, killAfter?: number): Promise<number | string | null> {
  const arms = ['--arm', 'a=one', '--arm', 'b=two', '--url', server.url]
  const args = ['run', 'env', ...arms, '--repeats', '2', '--seed', '7', '--concurrency', String(concurrency), '--out', out]
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: 'ignore' })
  let seen = 0
  onRequest = () => {
    seen += 1
    if (seen === killAfter) setTimeout(() => child.kill('SIGKILL'), Math.random() * 40)
  }
  return await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
}

const rollouts = (out: string) =>
  fs.readFileSync(path.join(folder, out, 'rollouts.jsonl'), 'utf8').replace(/"durationMs":[\d.]+/g, '"durationMs":0')
const episodeIds = (out: string) =>
  fs
    .readFileSync(path.join(folder, out, 'episodes.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line): string => JSON.parse(line).id)

describe('homeground run', { timeout: 180_000 }, () => {
  test.each([1, 8])('killed three times at concurrency %i ends with the rollouts of a run that nobody disturbed', async (concurrency) => {
    const whole = `whole-${concurrency}`
    const killed = `killed-${concurrency}`
    expect(await play(whole, concurrency)).toBe(0)
    const asked = server.requests.length
    for (const after of [1, 20, 30]) {
      const began = server.requests.length
      expect(await play(killed, concurrency, after + Math.floor(Math.random() * 8))).toBe('SIGKILL')
      expect(server.requests.length).toBeGreaterThan(began)
    }
    expect(await play(killed, concurrency)).toBe(0)
    expect(rollouts(killed)).toBe(rollouts(whole))
    expect(episodeIds(killed)).toEqual(episodeIds(whole))
    expect(episodeIds(killed).length).toBe(48)
    // 96 calls, and those that were under way at each of three deaths: two a rollout at most.
    const wasted = server.requests.length - asked - 96
    expect(wasted).toBeGreaterThanOrEqual(0)
    expect(wasted).toBeLessThanOrEqual(3 * 2 * concurrency)
    expect(fs.readdirSync(path.join(folder, killed)).sort()).toEqual(['episodes.jsonl', 'rollouts.jsonl', 'run.json'])
  })
})
