// `homeground erase` killed with SIGKILL in the middle, again and again: given once more, it leaves nothing of them in any table or spool, and everything of the others.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { readEngineAddress } from '../../store/index.ts'
import { commandLine, homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'
import { spoolingProduct } from '../support/spooling-product.ts'

/** More than one statement takes: an erasure of so many is several times four statements. */
const hers = 12_000
const others = 500
const database = 'erased'
const tables = ['span_heads', 'feedback', 'trace_days', 'spans'] as const

describe.skipIf(engineIsMissing)('homeground erase', { timeout: 300_000 }, () => {
  const engine = useEngine()
  const isHers = `project = 'p' AND trace_id <= '${traceId(hers)}'`
  const count = async (table: string, where: string) => Number(await engine.sql(`SELECT count() FROM ${table} WHERE ${where}`, database))

  test('killed in the middle finds the rest when it is given again', async () => {
    const spool = path.join(engine.folder, 'spool')
    const product = spoolingProduct(spool, 'http://127.0.0.1:9', ['ann', 'bob'])
    const [annSpooled = ''] = await product.traces
    await product.kill()
    const store = await engine.openStore(database)
    for (let from = 1; from <= hers + others; from += 2_500) {
      const traces = Array.from({ length: Math.min(2_500, hers + others - from + 1) }, (_, n) => from + n)
      await store.insertSpans(
        traces.flatMap((n) => [
          // One row of each trace alone says whose it is.
          spanRow({ project: 'p', traceId: traceId(n), spanId: spanId(1), user: n <= hers ? 'ann' : 'bob' }),
          spanRow({ project: 'p', traceId: traceId(n), spanId: spanId(2), requestBody: 'x'.repeat(200) }),
        ]),
      )
      await store.insertFeedback(
        traces.map((n) => ({
          project: 'p',
          traceId: traceId(n),
          stepId: '',
          name: 'thumb',
          value: true,
          comment: '',
          source: 'user',
          at: '2025-12-01T15:00:00.000Z',
        })),
      )
    }
    await store.insertSpans([spanRow({ project: 'p', traceId: annSpooled, spanId: spanId(3) })])
    // More than ClickHouse takes as one value: an environment of them, a list of them.
    const all = Array.from({ length: hers + others }, (_, n) => traceId(n + 1))
    const built = { project: 'p', name: 'desk', hash: 'h'.repeat(64), folder: '/envs/desk', builtAt: '2025-12-02T00:00:00.000Z' }
    await store.registerEnvironment({ ...built, traces: all })
    expect(await engine.sql('SELECT length(trace_ids), built_at FROM environments', database)).toBe(
      `${all.length}\t2025-12-02 00:00:00.000`,
    )
    expect(await store.traces({ project: 'p', limit: 6_000 })).toHaveLength(6_000)
    const before = Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(table, `NOT (${isHers})`)])))

    const args = ['erase', '--project', 'p', '--user', 'ann', '--yes', '--spool', spool, '--folder', engine.folder]
    const environment = { HOMEGROUND_CLICKHOUSE_DATABASE: database }
    const started = () => {
      const child = spawn(process.execPath, [commandLine, ...args], { env: { PATH: process.env['PATH'], ...environment } })
      let said = ''
      child.stderr.on('data', (chunk) => {
        said += String(chunk)
      })
      return { child, ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? `${code} ${said}`))) }
    }
    const killedWhen = async (table: string, where: string) => {
      const start = await count(table, where)
      expect(start).toBeGreaterThan(0)
      const { child, ended } = started()
      while (child.exitCode === null && (await count(table, where).catch(() => start)) === start)
        await new Promise((resolve) => setTimeout(resolve, 5))
      child.kill('SIGKILL')
      expect(await ended).toBe('SIGKILL')
      expect(await count('spans', isHers)).toBeGreaterThan(0)
    }
    // What the spool alone knows goes first.
    await killedWhen('spans', `trace_id = '${annSpooled}'`)
    await killedWhen('span_heads', isHers)
    await killedWhen('feedback', isHers)
    await killedWhen('spans', isHers)
    // The engine may be killed with it.
    const { pid } = readEngineAddress(path.join(engine.folder, 'engine')) ?? { pid: 0 }
    const { child, ended } = started()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    process.kill(pid, 'SIGKILL')
    child.kill('SIGKILL')
    await ended

    const last = await homegroundCommand(args, environment)
    expect([last.code, last.stderr]).toEqual([0, ''])
    expect(last.stdout).toContain('erased: ')
    expect(last.stdout).toContain('still held by environment desk')
    for (const table of tables) expect([table, await count(table, isHers)]).toEqual([table, 0])
    expect(await count('spans', `trace_id = '${annSpooled}'`)).toBe(0)
    expect(Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(table, `NOT (${isHers})`)])))).toEqual({
      ...before,
      span_heads: before['span_heads'] - 1,
      trace_days: before['trace_days'] - 1,
      spans: before['spans'] - 1,
    })
    const spooled = fs.readdirSync(spool).map((name) => fs.readFileSync(path.join(spool, name), 'latin1'))
    expect(spooled.join('')).not.toContain('a question of ann')
    expect(spooled.join('')).toContain('a question of bob')
    const again = await homegroundCommand(args, environment)
    expect(again.stdout).toContain('erased: 0 traces, 0 spans, 0 feedback, 0 spans in spools')
  })
})
