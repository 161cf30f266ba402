// `homeground backup` and `homeground restore` killed with SIGKILL in the middle: run again, both do the whole of it, and nothing is left lying about.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { backupsFolder } from '../../store/embedded/index.ts'
import { openStore } from '../../store/index.ts'
import { commandLine, homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'

describe.skipIf(engineIsMissing)('killed and run again', { timeout: 240_000 }, () => {
  const engine = useEngine()

  test('a backup is whole and leaves no archive, a restore is whole and leaves nothing beside its place', async () => {
    const store = await openStore({ folder: engine.folder, environment: {} })
    // Text that no codec makes small, so that a backup takes its time.
    const requestBody = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('')
    for (let n = 1; n <= 200; n++)
      await store.insertSpans([spanRow({ traceId: traceId(n), spanId: spanId(n), requestBody: `${requestBody}${n}` })])
    await store.close()
    const archives = backupsFolder(path.join(engine.folder, 'engine'))
    const file = path.join(engine.folder, 'store.tar')

    const backup = ['backup', file, '--folder', engine.folder]
    expect(await killedOnce(backup, () => fs.existsSync(archives) && fs.readdirSync(archives).length > 0)).toBe('SIGKILL')
    expect(fs.existsSync(file)).toBe(false)
    expect(await homegroundCommand(backup)).toMatchObject({ code: 0, stderr: '' })
    expect(fs.readdirSync(archives)).toEqual([])

    const folder = path.join(engine.folder, 'restored')
    const restore = ['restore', file, '--folder', folder]
    const beside = path.join(folder, 'engine.restoring')
    expect(await killedOnce(restore, () => fs.existsSync(path.join(beside, 'clickhouse')))).toBe('SIGKILL')
    expect(fs.existsSync(path.join(folder, 'engine', 'clickhouse'))).toBe(false)
    expect(await homegroundCommand(restore)).toMatchObject({ code: 0, stderr: '' })
    expect(fs.existsSync(beside)).toBe(false)
    const restored = await openStore({ folder, environment: {}, lingerMs: 0 })
    expect(await restored.counts()).toEqual([{ project: 'shop', episodes: 200, modelCalls: 200, toolCalls: 0 }])
    await restored.close({ stop: true })
  })
})

/** Starts it and kills it as soon as it has come so far; what ended it. */
async function killedOnce(args: readonly string[], isThere: () => boolean): Promise<unknown> {
  const child = spawn(process.execPath, [commandLine, ...args], { env: { PATH: process.env['PATH'] }, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
  while (child.exitCode === null && !isThere()) await new Promise((resolve) => setTimeout(resolve, 2))
  child.kill('SIGKILL')
  return await ended
}
