// A ClickHouse cluster of two shards for a test file: two real engines that know each other by `remote_servers`. The embedded engine has neither Keeper nor its DDL worker:
// an address in front of the first plays the worker (what is `ON CLUSTER` is run on every engine), and Replicated tables are made without their replication.
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../../store/embedded/free-port.ts'
import { engineIsMissing } from './engine.ts'

export interface TestCluster {
  /** The address to hand to HOMEGROUND_CLICKHOUSE_URL; the cluster is called `main`. */
  url(): string
  /** A statement on one shard alone, past the cluster; the answer's text. */
  sql(shard: 0 | 1, statement: string): Promise<string>
  /** What was sent with ON CLUSTER, in order. */
  readonly onCluster: string[]
}

/** Call it at the top of a describe block. */
export function useCluster(): TestCluster {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-cluster-'))
  const shards: { process: ChildProcess; url: string }[] = []
  const onCluster: string[] = []
  let server: http.Server | undefined
  let url = ''
  beforeAll(async () => {
    if (engineIsMissing) return
    const ports = [await freePort(), await freePort()]
    for (const [index, tcp] of ports.entries()) shards.push(await startShard(folder, index, tcp, ports))
    server = http.createServer((request, response) => {
      void answer(
        request,
        shards.map(({ url }) => url),
        onCluster,
      ).then(
        ({ status, headers, body }) => response.writeHead(status, headers).end(body),
        (error) => response.writeHead(500).end(String(error)),
      )
    })
    const port = await freePort()
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${port}`
  }, 60_000)
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    for (const { process } of shards) process.kill('SIGKILL')
    await Promise.all(
      shards.map(({ process }) => process.exitCode ?? process.signalCode ?? new Promise((resolve) => process.once('exit', resolve))),
    )
    fs.rmSync(folder, { recursive: true, force: true })
  })
  return {
    url: () => url,
    onCluster,
    sql: async (shard, statement) => {
      const response = await fetch(`${shards[shard]?.url}/?database=homeground`, { method: 'POST', body: statement })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.trim()
    },
  }
}

/** Relays to the first shard; a statement for the cluster goes to all, one after another. */
async function answer(request: http.IncomingMessage, shards: string[], onCluster: string[]) {
  const body = Buffer.concat(await request.toArray())
  const text = body.subarray(0, 65_536).toString('latin1')
  const everywhere = text.includes(" ON CLUSTER 'main'")
  if (everywhere) onCluster.push(body.toString())
  const sent = everywhere ? Buffer.from(withoutKeeper(body.toString())) : body
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      /^(x-clickhouse|content-type|content-encoding)/.test(name) && typeof value === 'string' ? [[name, value]] : [],
    ),
  )
  let last: Response | undefined
  for (const shard of everywhere ? shards : shards.slice(0, 1)) {
    // The user of these engines has no password.
    last = await fetch(`${shard}${request.url}`, {
      method: request.method ?? 'POST',
      headers,
      ...(request.method === 'GET' ? {} : { body: sent }),
    })
    if (!last.ok) break
    if (everywhere) await last.clone().arrayBuffer()
  }
  if (last === undefined) throw new Error('no shard')
  const kept = [...last.headers].filter(([name]) => /^(x-clickhouse|content-type)/.test(name))
  return { status: last.status, headers: Object.fromEntries(kept), body: Buffer.from(await last.arrayBuffer()) }
}

function withoutKeeper(statement: string): string {
  return statement
    .replace(" ON CLUSTER 'main'", '')
    .replace(
      /ENGINE = Replicated(\w+)\('[^']*', '[^']*'(?:, (\w+))?\)/,
      (_, engine: string, version = '') => `ENGINE = ${engine}(${version})`,
    )
}

async function startShard(folder: string, index: number, tcp: number, ports: number[]): Promise<{ process: ChildProcess; url: string }> {
  const settings = path.join(folder, `shard-${index}.xml`)
  const shards = ports.map((port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`)
  fs.writeFileSync(
    settings,
    `<clickhouse><logger><console>false</console><level>none</level></logger><remote_servers><main>${shards.join('')}</main></remote_servers></clickhouse>`,
  )
  const http = await freePort()
  const script = path.join(import.meta.dirname, '../../bench/ingest/engine.mjs')
  const given = [path.join(folder, `shard-${index}`), String(http), String(tcp), settings]
  const process = spawn(globalThis.process.execPath, [script, ...given], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${http}`
  for (let tries = 0; tries < 300; tries++) {
    if ((await fetch(`${url}/ping`).catch(() => undefined))?.ok === true) return { process, url }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('a shard did not answer within 30 s')
}
