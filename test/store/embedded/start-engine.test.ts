import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readAddress } from '../../../store/embedded/address.ts'
import { answers } from '../../../store/embedded/answers.ts'
import { locateEngine } from '../../../store/embedded/locate.ts'
import { isAlive, processStart } from '../../../store/embedded/process-identity.ts'
import { type Engine, type EngineAddress, startEngine } from '../../../store/index.ts'
import { engineIsMissing } from '../../support/engine.ts'
import { until } from '../../support/until.ts'

const folders: string[] = []
const engines: Engine[] = []

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close({ stop: true })
  for (const folder of folders.splice(0)) {
    const left = readAddress(folder)
    if (left !== undefined) process.kill(left.pid, 'SIGKILL')
    // The killed engine may write a last file while its folder is removed.
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
})

function temporary(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-engine-'))
  folders.push(folder)
  return folder
}

async function start(folder: string, lingerMs?: number): Promise<Engine> {
  const engine = await startEngine({ folder, ...(lingerMs === undefined ? {} : { lingerMs }) })
  engines.push(engine)
  return engine
}

async function query(address: EngineAddress, sql: string): Promise<string> {
  const answer = await fetch(address.url, {
    method: 'POST',
    body: sql,
    headers: { 'X-ClickHouse-User': address.user, 'X-ClickHouse-Key': address.password },
  })
  return (await answer.text()).trim()
}

/** Another process that starts or shares the engine of the folder and holds its lease until it is killed. */
async function otherHolder(folder: string, lingerMs: number): Promise<{ pid: number; address: EngineAddress; kill(): void }> {
  const index = path.resolve('dist/store/index.js')
  const code = `const { startEngine } = await import(${JSON.stringify(index)})
    const engine = await startEngine({ folder: ${JSON.stringify(folder)}, lingerMs: ${lingerMs} })
    process.stdout.write(JSON.stringify(engine.address()) + '\\n'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  await until(
    () => output.includes('\n'),
    () => `the other process printed ${JSON.stringify(output)}`,
    30_000,
  )
  return { pid: child.pid ?? 0, address: JSON.parse(output) as EngineAddress, kill: () => child.kill('SIGKILL') }
}

describe.skipIf(engineIsMissing)('startEngine', { timeout: 120_000 }, () => {
  test('gives a ClickHouse that answers its user and nobody else', async () => {
    const engine = await start(temporary())
    expect(await query(engine.address(), 'SELECT 6 * 7')).toBe('42')
    const stranger = await fetch(engine.address().url, { method: 'POST', body: 'SELECT * FROM system.users' })
    expect(await stranger.text()).toContain('Not enough privileges')
    expect(fs.statSync(path.join(engine.folder, 'engine.json')).mode & 0o777).toBe(0o600)
  })

  test('shares one engine among all who start it on the same folder, also at the same moment', async () => {
    const folder = temporary()
    const started = await Promise.all([start(folder), start(folder), start(folder)])
    expect(new Set(started.map((engine) => engine.address().pid)).size).toBe(1)
  })

  test('keeps what was written when the engine is killed, and brings it back on the same folder', async () => {
    const engine = await start(temporary())
    await query(engine.address(), 'CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n')
    await query(engine.address(), 'INSERT INTO kept VALUES (7)')
    const before = engine.address()
    process.kill(before.pid, 'SIGKILL')
    await until(
      () => !isAlive(before),
      () => `the killed engine ${before.pid} still runs`,
    )
    const revived = await engine.revive()
    expect(revived.pid).not.toBe(before.pid)
    expect(await query(revived, 'SELECT n FROM kept')).toBe('7')
  })

  test('ends by itself once every holder was killed, and not while one is left', async () => {
    const folder = temporary()
    const first = await otherHolder(folder, 1_500)
    const second = await otherHolder(folder, 1_500)
    expect(second.address.pid).toBe(first.address.pid)
    first.kill()
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(isAlive(second.address)).toBe(true)
    expect(await query(second.address, 'SELECT 1')).toBe('1')
    second.kill()
    await until(
      () => !isAlive(second.address),
      () => `engine ${second.address.pid} still runs; leases: ${fs.readdirSync(path.join(folder, 'leases'))}`,
      15_000,
    )
    expect(readAddress(folder)).toBeUndefined()
  })

  test('is gone when the last user closes it with stop, and stays for another user', async () => {
    const folder = temporary()
    const [one, two] = [await start(folder), await start(folder)]
    const { pid } = one.address()
    await one.close({ stop: true })
    expect(processStart(pid)).toBeDefined()
    await two.close({ stop: true })
    expect(processStart(pid)).toBeUndefined()
  })

  test('ends where it cannot be found: nobody would ever end it', async () => {
    const folder = temporary()
    // Nothing can be renamed to the address's file.
    fs.mkdirSync(path.join(folder, 'engine.json', 'in the way'), { recursive: true })
    const begun = performance.now()
    await expect(startEngine({ folder, startTimeoutMs: 25_000 })).rejects.toMatchObject({
      code: 'engine-failed',
      message: expect.stringMatching(/EISDIR|ENOTEMPTY|EEXIST/),
    })
    expect(performance.now() - begun).toBeLessThan(20_000)
  })

  test('stays for whoever holds it though nobody may linger, with its address in place', async () => {
    const folder = temporary()
    await start(folder, 0)
    let missing = 0
    for (let look = 0; look < 1500; look += 1) {
      if (!fs.existsSync(path.join(folder, 'engine.json'))) missing += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(missing).toBe(0)
    // What the watcher does to the file each half second shows in it.
    const { ino } = fs.statSync(path.join(folder, 'engine.json'))
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(fs.statSync(path.join(folder, 'engine.json')).ino).toBe(ino)
  })

  test('is not taken to answer where somebody else has its port, who answers everything: it ends, and says that the port is taken', async () => {
    const stranger = http.createServer((_, response) => response.end('Ok.\n'))
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = stranger.address() as AddressInfo
      const folder = temporary()
      const task = { folder, library: locateEngine(), port, lingerMs: 10_000 }
      const child = spawn(process.execPath, [path.resolve('dist/store/embedded/engine-process.js'), JSON.stringify(task)], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          said += String(chunk)
        })
      await new Promise((resolve) => child.once('close', resolve))
      expect(said).toMatch(/address already in use/i)
      expect(fs.existsSync(path.join(folder, 'engine.json'))).toBe(false)
      // Whether its watcher asked before its end is chance: asked here, it must see through the stranger too.
      expect(await answers({ url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, start: '' })).toBe(false)
    } finally {
      stranger.close()
    }
  })

  test('says engine-locked when another program holds the ClickHouse files', async () => {
    const folder = temporary()
    const engine = await start(folder)
    const stranger = temporary()
    // The same ClickHouse files, reached by another folder: our lock does not know, ClickHouse's own does.
    fs.symlinkSync(path.join(folder, 'clickhouse'), path.join(stranger, 'clickhouse'))
    await expect(startEngine({ folder: stranger })).rejects.toMatchObject({
      code: 'engine-locked',
      message: expect.stringContaining(stranger),
    })
    expect(fs.readdirSync(path.join(stranger, 'leases'))).toEqual([])
    expect(await query(engine.address(), 'SELECT 1')).toBe('1')
  })

  test('says folder-unwritable when the folder cannot be made', async () => {
    const file = path.join(temporary(), 'a-file')
    fs.writeFileSync(file, '')
    await expect(startEngine({ folder: path.join(file, 'engine') })).rejects.toMatchObject({ code: 'folder-unwritable' })
  })
})
