// Ingest beside the OpenTelemetry Collector with its ClickHouse exporter: same load, same engine, one run, rounds taken in turn. Both answer after the insert.
// The peer gets its better one of two durable configurations and of 16 or 64 connections; so do we of the connections.
//   npm run bench:ingest [-- --seconds 60 --warm-up 5 --batches 100,10 --connections 16,64]       needs Go for the peer, built once into ~/.cache/homeground-bench
// Each server is under the same load for `--warm-up` seconds before it is measured: a just-in-time compiler, and the engine's first merges, come to rest.
// Last line: JSON with directRatio100, directRatio10, spansPerSecond.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../dist/store/embedded/free-port.js'

const here = import.meta.dirname
const root = path.resolve(here, '../..')
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    'warm-up': { type: 'string', default: '5' },
    batches: { type: 'string', default: '100,10' },
    connections: { type: 'string', default: '16,64' },
    peer: { type: 'string' },
  },
})
const peer = values.peer ?? buildPeer()
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-ingest-'))
const [httpPort, tcpPort, ourPort, peerPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
const engine = start(process.execPath, [path.join(here, 'engine.mjs'), path.join(folder, 'clickhouse'), String(httpPort), String(tcpPort)])
const results = []
try {
  await until(() => answers(`http://127.0.0.1:${httpPort}/ping`))
  for (const batch of values.batches.split(',').map(Number)) {
    for (const connections of values.connections.split(',').map(Number)) {
      await round('homeground', batch, connections, ours)
      for (const configuration of ['durable', 'durable-tuned']) await round(configuration, batch, connections, () => theirs(configuration))
    }
  }
} finally {
  engine.kill('SIGTERM')
  fs.rmSync(folder, { recursive: true, force: true })
}
console.table(results)
const best = (batch, isOurs) =>
  Math.max(...results.filter((row) => row.batch === batch && (row.side === 'homeground') === isOurs).map((row) => row.spansPerSecond))
const ratio = (batch) => figure((best(batch, true) / best(batch, false)).toFixed(2))
/** Null where the rounds were left out. */
const figure = (value) => (Number.isFinite(Number(value)) ? Number(value) : null)
console.log(JSON.stringify({ directRatio100: ratio(100), directRatio10: ratio(10), spansPerSecond: figure(best(100, true)) }))

async function round(side, batch, connections, open) {
  await query('DROP DATABASE IF EXISTS homeground SYNC')
  await query('DROP DATABASE IF EXISTS oteld SYNC')
  await query('CREATE DATABASE oteld')
  const server = await open()
  try {
    const load = (seconds, pids) => {
      const args = ['--url', `http://127.0.0.1:${server.port}/v1/traces`, '--seconds', seconds, '--pids', pids]
      const shape = ['--batch', String(batch), '--connections', String(connections)]
      return execFileAsync(process.execPath, [path.join(here, 'load.mjs'), ...args, ...shape])
    }
    const before = JSON.parse(await load(values['warm-up'], ''))
    const measured = JSON.parse(await load(values.seconds, `${server.child.pid},${engine.pid}`))
    const { spans, spansPerSecond, p50Ms, p99Ms, cpuSeconds, peakMb, statuses } = measured
    const stored = Number(await query(`SELECT count() FROM ${side === 'homeground' ? 'homeground.spans' : 'oteld.otel_traces'}`))
    const answered = before.spans + spans
    if (stored < answered) throw new Error(`${side}: ${answered} spans were answered with 200 and ${stored} are stored`)
    results.push({
      side,
      batch,
      connections,
      spansPerSecond,
      p50Ms,
      p99Ms,
      cpuServer: cpuSeconds[0],
      cpuEngine: cpuSeconds[1],
      serverMicrosPerSpan: Math.round((cpuSeconds[0] / spans) * 1e6),
      engineMicrosPerSpan: Math.round((cpuSeconds[1] / spans) * 1e6),
      peakServerMb: peakMb[0],
      peakEngineMb: peakMb[1],
      statuses: JSON.stringify(statuses),
    })
    process.stderr.write(`${side} ${batch} x ${connections}: ${spansPerSecond} spans/s\n`)
  } finally {
    await stop(server.child)
  }
}

async function ours() {
  const environment = {
    ...process.env,
    HOMEGROUND_CLICKHOUSE_URL: `http://127.0.0.1:${httpPort}`,
    HOMEGROUND_PORT: String(ourPort),
    HOMEGROUND_LOG_LEVEL: 'error',
  }
  const child = start(process.execPath, [path.join(root, 'dist/cli/main.js'), 'collector'], environment)
  await until(() => answers(`http://127.0.0.1:${ourPort}/healthz`))
  return { child, port: ourPort }
}

async function theirs(configuration) {
  const text = fs
    .readFileSync(path.join(here, `peer-${configuration}.yaml`), 'utf8')
    .replaceAll('14318', String(peerPort))
    .replaceAll('19000', String(tcpPort))
  const file = path.join(folder, 'peer.yaml')
  fs.writeFileSync(file, text)
  // It tells of every request that is cut off at a round's end.
  const log = fs.openSync(path.join(folder, 'peer.log'), 'a')
  const child = spawn(peer, ['--config', file], { stdio: ['ignore', log, log] })
  fs.closeSync(log)
  await until(async () => (await post(`http://127.0.0.1:${peerPort}/v1/traces`)) === 200)
  return { child, port: peerPort }
}

function buildPeer() {
  const cache = path.join(os.homedir(), '.cache', 'homeground-bench')
  const binary = path.join(cache, 'otelcol-peer')
  if (fs.existsSync(binary)) return binary
  process.stderr.write('building the peer with Go (minutes, once)\n')
  fs.mkdirSync(cache, { recursive: true })
  const go = { stdio: ['ignore', 'inherit', 'inherit'], cwd: cache, env: { ...process.env, GOBIN: cache } }
  execFileSync('go', ['install', 'go.opentelemetry.io/collector/cmd/builder@v0.165.0'], go)
  execFileSync(path.join(cache, 'builder'), ['--config', path.join(here, 'peer-builder.yaml')], go)
  fs.copyFileSync(path.join(cache, 'build', 'otelcol-probe'), binary)
  fs.chmodSync(binary, 0o755)
  return binary
}

function start(program, args, environment = process.env) {
  return spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env: environment })
}

function stop(child) {
  return new Promise((resolve) => {
    child.once('close', resolve)
    child.kill('SIGTERM')
  })
}

function execFileAsync(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}`))))
  })
}

async function query(sql) {
  const response = await fetch(`http://127.0.0.1:${httpPort}/`, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text.trim()
}

async function answers(url) {
  return (await fetch(url).catch(() => undefined))?.ok === true
}

async function post(url) {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  return (await fetch(url, request).catch(() => undefined))?.status
}

async function until(condition) {
  const deadline = Date.now() + 60_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('a server did not start within a minute')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
