import { spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { readAddress } from '../../store/embedded/address.ts'
import { isAlive } from '../../store/embedded/process-identity.ts'
import { openStore, startEngine } from '../../store/index.ts'
import { homegroundCommand, homegroundServer, type Server } from '../support/command.ts'
import { engineIsMissing } from '../support/engine.ts'
import { postTraces, protobufTraces } from '../support/otlp.ts'
import { spanId, traceId } from '../support/span-rows.ts'
import { until } from '../support/until.ts'

const folders: string[] = []
const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill()
  for (const folder of folders.splice(0)) {
    const left = readAddress(path.join(folder, 'engine'))
    if (left !== undefined) process.kill(left.pid, 'SIGKILL')
    if (left !== undefined)
      await until(
        () => !isAlive(left),
        () => `engine ${left.pid} still runs`,
      )
    fs.rmSync(folder, { recursive: true, force: true })
  }
})

function temporary(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-up-'))
  folders.push(folder)
  return folder
}

async function up(folder: string): Promise<Server> {
  const server = await homegroundServer(['up', '--folder', folder])
  servers.push(server)
  return server
}

/** What `up` says to a person. */
async function printed(args: readonly string[], settings: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, ['dist/cli/main.js', 'up', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += String(chunk)
  })
  await until(
    () => text.includes('Ctrl-C'),
    () => text,
    60_000,
  )
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('close', resolve))
  return text
}

describe.skipIf(engineIsMissing)('homeground up', { timeout: 120_000 }, () => {
  test('keeps a span that it answered with 200 when collector and engine are killed, and sending it again adds nothing', async () => {
    const folder = temporary()
    const server = await up(folder)
    const body = protobufTraces([{ traceId: traceId(1), spanId: spanId(1), attributes: { 'gen_ai.operation.name': 'chat' } }])
    const acknowledged = postTraces(server.url, body)
    expect((await acknowledged).status).toBe(200)
    const engine = readAddress(path.join(folder, 'engine'))
    process.kill(engine?.pid ?? 0, 'SIGKILL')
    await server.kill()

    const again = await up(folder)
    expect((await postTraces(again.url, body)).status).toBe(200)
    const store = await openStore({ folder, environment: {} })
    expect((await store.spans('shop', [traceId(1)])).map((row) => row.spanId)).toEqual([spanId(1)])
    expect(await store.counts()).toEqual([{ project: 'shop', episodes: 1, modelCalls: 1, toolCalls: 0 }])
    await store.close()
    expect((await again.stop()).code).toBe(0)
  })

  test('goes on when only its engine is killed', async () => {
    const folder = temporary()
    const server = await up(folder)
    process.kill(readAddress(path.join(folder, 'engine'))?.pid ?? 0, 'SIGKILL')
    expect((await postTraces(server.url, protobufTraces([{ traceId: traceId(2), spanId: spanId(1) }]))).status).toBe(200)
    expect((await server.stop()).code).toBe(0)
  })

  test('goes on when its engine is killed in the middle of a request', async () => {
    const folder = temporary()
    const server = await up(folder)
    const pid = readAddress(path.join(folder, 'engine'))?.pid ?? 0
    // Stopped, it still accepts connections, as one that is being killed does.
    process.kill(pid, 'SIGSTOP')
    const posted = postTraces(server.url, protobufTraces([{ traceId: traceId(3), spanId: spanId(1) }]))
    await new Promise((resolve) => setTimeout(resolve, 500))
    process.kill(pid, 'SIGKILL')
    expect((await posted).status).toBe(200)
    expect((await server.stop()).code).toBe(0)
  })

  test('ends at its deadline, with 3, though its engine stands still and answers nothing', async () => {
    const folder = temporary()
    const server = await homegroundServer(['up', '--folder', folder], { HOMEGROUND_DRAIN_SECONDS: '1' })
    servers.push(server)
    const engine = readAddress(path.join(folder, 'engine'))
    process.kill(engine?.pid ?? 0, 'SIGSTOP')
    const posted = postTraces(server.url, protobufTraces([{ traceId: traceId(4), spanId: spanId(1) }])).catch(() => 'cut off')
    await until(
      async () => /homeground_bytes_in_flight [1-9]/.test(await (await fetch(`${server.url}/metrics`)).text()),
      () => 'the request is not held',
    )
    expect([(await server.stop()).code, await posted]).toEqual([3, 'cut off'])
    expect(engine !== undefined && isAlive(engine)).toBe(false)
  })

  test('leaves no process behind when it is told to end', async () => {
    const folder = temporary()
    const server = await up(folder)
    const engine = readAddress(path.join(folder, 'engine'))
    const { code } = await server.stop()
    expect(code).toBe(0)
    expect(engine !== undefined && isAlive(engine)).toBe(false)
  })

  test('prints what a product needs', async () => {
    const text = await printed(['--folder', temporary()])
    expect(text).toMatch(/homeground\(\{ project: 'my-product', endpoint: 'http:\/\/127\.0\.0\.1:\d+' \}\)/)
    expect(text).toContain('hg.wrap(new OpenAI())')
    expect(text).toContain('(this machine only)')
  })

  test('prints neither the password in the address of a server, nor that it is for this machine where it is not', async () => {
    const [folder, own] = [temporary(), temporary()]
    const engine = await startEngine({ folder: path.join(folder, 'engine') })
    const { url, user, password } = engine.address()
    const { host } = new URL(url)
    await homegroundCommand(['keys', 'create', 'a', '--project', 'shop', '--folder', own])
    const text = await printed(['--folder', own], {
      HOMEGROUND_CLICKHOUSE_URL: `http://${user}:${password}@${host}`,
      HOMEGROUND_HOST: '0.0.0.0',
    })
    await engine.close({ stop: true })
    expect(text).toContain(`ClickHouse at ${host}`)
    expect(text).not.toContain(password)
    expect(text).not.toContain('this machine only')
  })

  test('says port-in-use with exit 2, and leaves no engine behind', async () => {
    const folder = temporary()
    const other = net.createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const { code, stderr } = await homegroundCommand(['up', '--folder', folder, '--port', port])
    other.close()
    expect(code).toBe(2)
    expect(stderr).toContain(`port ${port}`)
    expect(stderr).toContain('errors.md#port-in-use')
    expect(readAddress(path.join(folder, 'engine'))).toBeUndefined()
  })

  test('says engine-locked with exit 2 when another program holds the ClickHouse files', async () => {
    const [folder, stranger] = [temporary(), temporary()]
    await up(folder)
    fs.mkdirSync(path.join(stranger, 'engine'))
    fs.symlinkSync(path.join(folder, 'engine', 'clickhouse'), path.join(stranger, 'engine', 'clickhouse'))
    const { code, stderr } = await homegroundCommand(['up', '--folder', stranger, '--port', '0'])
    expect(code).toBe(2)
    expect(stderr).toContain('errors.md#engine-locked')
    expect(stderr).toContain('PID')
  })
})

test('settings that cannot be used are all named at once, with exit 2', async () => {
  const { code, stderr } = await homegroundCommand(['collector'], {
    HOMEGROUND_PORT: 'x',
    HOMEGROUND_CLICKHOUSE_URL: 'ftp://h',
    HOMEGROUND_MAX_BODY_BYTES: '1',
  })
  expect(code).toBe(2)
  for (const name of ['HOMEGROUND_PORT', 'HOMEGROUND_CLICKHOUSE_URL', 'HOMEGROUND_MAX_BODY_BYTES']) expect(stderr).toContain(name)
})

test('a folder that cannot be written is named, with exit 2', async () => {
  if (engineIsMissing) return
  const file = path.join(temporary(), 'file')
  fs.writeFileSync(file, '')
  const { code, stderr } = await homegroundCommand(['traces', 'list', '--folder', file])
  expect(code).toBe(2)
  expect(stderr).toContain('errors.md#folder-unwritable')
})

test.skipIf(process.platform !== 'linux')('a folder that the kernel refuses to make is named too, and waited for by nobody', async () => {
  if (engineIsMissing) return
  const { code, stderr } = await homegroundCommand(['traces', 'list', '--folder', '/proc/x/y'])
  expect(code).toBe(2)
  expect(stderr).toContain('errors.md#folder-unwritable')
})
