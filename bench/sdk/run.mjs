// What recording costs a product, beside five peers: CPU a call including the export, over real sockets, less that of the bare client. In each round the bare
// client, ours and each peer have a process of their own, alone on the machine (call.mjs): it makes calls until its code is warm, then those that are counted, one after the other
// as a busy product does. A figure is the median of the rounds, of what a client used more than the bare one of its round; rounds begin with another client each, so that a machine
// that grows slower does so for all. `homeground.agent` is beside the point of the ratio: each call in a run of its own, which is a second span and, before Node 24, the price of
// AsyncLocalStorage, that slows every promise of a process as soon as anybody uses one.
// `--rounds N`, `--plain CALLS`, `--stream CALLS` (a process's; 0 leaves it out), `--only a,b`, `--raw FILE` (each process's figures, as JSON).
// Then what a caller waits for longer (latency.mjs), how long the import takes, and what is installed.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { peers } from './peers.mjs'

const folder = path.dirname(fileURLToPath(import.meta.url))
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    plain: { type: 'string', default: '4000' },
    stream: { type: 'string', default: '300' },
    only: { type: 'string' },
    raw: { type: 'string' },
  },
})

/** Calls before the first that counts. After 1,500 plain ones a bare call takes 690 us and recording adds 150 to 200; after 6,000 it takes 580, and recording adds 90. */
const warmUp = { plain: 6000, stream: 300 }

installPeers()

const children = []
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
const upstream = await serve('upstream.mjs')
const sink = await serve('sink.mjs')
const chosen = options.only?.split(',') ?? peers
const names = ['none', 'homeground', 'homeground.agent', ...chosen]
const result = {}
const raw = {}
for (const mode of ['plain', 'stream']) {
  const calls = Number(options[mode])
  if (calls === 0) continue
  raw[mode] = measure(mode, calls)
  Object.assign(result, report(mode, raw[mode]))
  if (options.raw !== undefined) fs.writeFileSync(options.raw, JSON.stringify(raw))
}
Object.assign(result, latency(), footprint())
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)

function latency() {
  const run = spawnSync(process.execPath, [path.join(folder, 'latency.mjs'), upstream, sink], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`latency.mjs ended with ${run.status ?? run.signal}: ${run.stderr}`)
  const figures = JSON.parse(run.stdout)
  process.stdout.write(
    `\nlatency: a wrapped call takes ${figures.addedMedianMs} ms longer in the median (interleaved with bare ones); between it and the fetch underneath, before its promise resolves, lie ${figures.insideMedianMs} ms, p99 ${figures.insideP99Ms} ms (of a bare call p99 ${figures.bareInsideP99Ms} ms)\n`,
  )
  return figures
}

/** Import time (median of processes of its own), installed size, dependencies. */
function footprint() {
  const sdk = path.join(folder, '../../sdk')
  const node = (source) => execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  const source = `const start = performance.now(); await import(${JSON.stringify(path.join(sdk, 'dist/index.js'))}); process.stdout.write(String(performance.now() - start))`
  const processMs = (text) => {
    const start = performance.now()
    node(text)
    return performance.now() - start
  }
  const times = []
  const withUs = []
  const bare = []
  for (let run = 0; run < 11; run += 1) {
    times.push(Number(node(source)))
    withUs.push(processMs(source))
    bare.push(processMs('0'))
  }
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(sdk, 'package.json'), 'utf8'))
  const sizes = [path.join(sdk, 'dist'), ...Object.keys(dependencies).map((name) => path.join(sdk, '../node_modules', name))].map(
    bytesUnder,
  )
  const figures = {
    importMs: Math.round(median(times) * 10) / 10,
    processMs: Math.round(median(withUs)),
    bareProcessMs: Math.round(median(bare)),
    sdkKiB: Math.round(sizes[0] / 1024),
    installedKiB: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024),
    dependencies: Object.keys(dependencies).length,
  }
  process.stdout.write(
    `import ${figures.importMs} ms (median of 11 processes; a whole process with it ${figures.processMs} ms, one that does nothing ${figures.bareProcessMs} ms); ${figures.sdkKiB} KiB of its own, ${figures.installedKiB} KiB with ${Object.keys(dependencies).join(' and ')}\n`,
  )
  return figures
}

function bytesUnder(place) {
  return fs
    .readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0)
}

function installPeers() {
  const wanted = fs.readFileSync(path.join(folder, 'package.json'), 'utf8')
  const stamp = path.join(folder, 'node_modules', '.installed')
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return
  process.stderr.write('installing the peers (once)\n')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  fs.writeFileSync(stamp, wanted)
}

async function serve(file) {
  const child = spawn(process.execPath, [path.join(folder, file)], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const port = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim())))
  return `http://127.0.0.1:${port}`
}

/** By client, the figures of each round. */
function measure(mode, calls) {
  const figures = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const at of names.keys()) {
      const name = names[(at + round) % names.length]
      figures[name].push(callsOf(name, mode, calls))
    }
    process.stderr.write(`${mode}: round ${round + 1} of ${options.rounds}\n`)
  }
  return figures
}

function callsOf(name, mode, calls) {
  const given = [path.join(folder, 'call.mjs'), name, mode, String(warmUp[mode]), String(calls), upstream, sink]
  const run = spawnSync(process.execPath, given, { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`${name}, ${mode}: ended with ${run.status ?? run.signal}: ${run.stderr}`)
  // Some peers print.
  return JSON.parse(run.stdout.trim().split('\n').at(-1))
}

/** Prints the table; gives ours over the best peer, in added CPU. */
function report(mode, rounds) {
  const middle = (name, figure) => median(rounds[name].map(figure))
  const rows = names.map((name) => ({
    name,
    added: middle(name, ({ cpuMicros }, round) => cpuMicros - rounds.none[round].cpuMicros),
    cpu: middle(name, ({ cpuMicros }) => cpuMicros),
    wall: middle(name, ({ wallMicros }) => wallMicros),
    rss: middle(name, ({ rssMiB }) => rssMiB),
  }))
  process.stdout.write(`\n${mode}: microseconds a call, median of ${options.rounds} rounds of ${options[mode]} calls\n`)
  const line = (...cells) =>
    process.stdout.write(`${cells.map((cell, column) => (column === 0 ? cell.padEnd(18) : cell.padStart(12))).join('')}\n`)
  line('client', 'added CPU', 'CPU', 'wall', 'MiB')
  for (const { name, ...figures } of rows) line(name, ...Object.values(figures).map((value) => value.toFixed(0)))
  const added = (name) => rows.find((row) => row.name === name)?.added ?? Number.NaN
  const ratio = added('homeground') / Math.min(...chosen.map(added))
  return { [`${mode}Ratio`]: Math.round(ratio * 1000) / 1000 }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
