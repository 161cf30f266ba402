// `homeground import` killed with SIGKILL while it stores: run again, it ends with the rows of an import that nobody disturbed.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandLine, homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'

const episodes = 6_000
const contents =
  "SELECT count(), uniqExact(trace_id, span_id), sum(cityHash64(trace_id, span_id, name, start_time, duration_ns, bodies)) FROM spans FINAL WHERE project = 'killed'"

describe.skipIf(engineIsMissing)('homeground import', { timeout: 240_000 }, () => {
  const engine = useEngine()

  test('killed while it stores, and run again, stores each row once', async () => {
    const file = path.join(engine.folder, 'conversations.jsonl')
    const line = (n: number) =>
      JSON.stringify({
        id: n,
        messages: [
          { role: 'user', content: `question ${n}` },
          { role: 'assistant', content: `answer ${n}` },
        ],
        reward: 1,
      })
    fs.writeFileSync(file, Array.from({ length: episodes }, (_, n) => line(n)).join('\n'))
    const args = (database: string) => ({
      args: ['import', file, '--format', 'openai-messages', '--project', 'killed', '--folder', engine.folder],
      environment: { HOMEGROUND_CLICKHOUSE_DATABASE: database },
    })
    const whole = args('whole')
    expect((await homegroundCommand(whole.args, whole.environment)).code).toBe(0)

    const killed = args('killed')
    const child = spawn(process.execPath, [commandLine, ...killed.args], {
      env: { PATH: process.env['PATH'], ...killed.environment },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
    // The first batch is there, the last is not.
    while (child.exitCode === null && Number(await engine.sql('SELECT count() FROM spans', 'killed').catch(() => '0')) === 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    const stored = Number(await engine.sql('SELECT count() FROM spans FINAL', 'killed'))
    expect(stored).toBeGreaterThan(0)
    expect(stored).toBeLessThan(Number((await engine.sql(contents, 'whole')).split('\t')[0]))

    expect((await homegroundCommand(killed.args, killed.environment)).code).toBe(0)
    expect(await engine.sql(contents, 'killed')).toBe(await engine.sql(contents, 'whole'))
    expect(await engine.sql('SELECT count() FROM feedback FINAL', 'killed')).toBe(String(episodes))
  })
})
