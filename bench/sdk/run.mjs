// What recording costs a product, beside five peers: CPU a call including the export, over real sockets, less that of the bare client. Each client is a process
// of its own. In a round all of them have the same number of calls, a few at a time in turn (bare, ours, each peer, bare, …), since a machine's speed changes within
// seconds; the figure is the median of the rounds. `--rounds N`, `--plain CALLS`, `--stream CALLS` (0 leaves it out), `--only a,b`.
// Then what a caller waits for longer (latency.mjs), how long the import takes, and what is installed.
import { execFileSync, fork, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { peers } from './peers.mjs'

const folder = path.dirname(fileURLToPath(import.meta.url))
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    plain: { type: 'string', default: '1500' },
    stream: { type: 'string', default: '128' },
    only: { type: 'string' },
  },
})

installPeers()

const children = []
process.on('exit', () => {
  for (const child of children) child.kill()
})
const upstream = await serve('upstream.mjs')
const sink = await serve('sink.mjs')
const chosen = options.only?.split(',') ?? peers
const names = ['none', 'homeground', ...chosen]
const result = {}
for (const mode of ['plain', 'stream']) {
  const calls = Number(options[mode])
  if (calls > 0) result[`${mode}Ratio`] = report(mode, await measure(mode, calls))
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

/** By client, one measurement a round. */
async function measure(mode, calls) {
  // A product runs for days: what the compiler does in the first seconds is not counted.
  const warmUp = mode === 'plain' ? 3000 : 640
  const atATime = mode === 'plain' ? 100 : 16
  const clients = []
  for (const name of names) {
    const child = fork(path.join(folder, 'call.mjs'), [name, mode, upstream, sink], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    children.push(child)
    child.once('exit', (code) => {
      if (code === 0) return
      process.stderr.write(`${name}, ${mode}: ended with ${code}\n`)
      process.exit(1)
    })
    await new Promise((resolve) => child.once('message', resolve))
    clients.push({ name, child, runs: [] })
    await ask(child, { calls: warmUp })
  }
  for (const { child } of clients) await ask(child, { flush: true })
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const wall = new Map(clients.map((client) => [client, 0]))
    for (let made = 0; made < calls; made += atATime) {
      for (const client of clients) wall.set(client, wall.get(client) + (await ask(client.child, { calls: atATime })).wallMicros)
    }
    const counted = Math.ceil(calls / atATime) * atATime
    for (const client of clients) {
      const { cpuMicros, rssMiB } = await ask(client.child, { flush: true })
      client.runs.push({ cpuMicros: cpuMicros / counted, wallMicros: wall.get(client) / counted, rssMiB })
    }
    process.stderr.write(`${mode}: round ${round + 1} of ${options.rounds}\n`)
  }
  for (const { child } of clients) child.disconnect()
  return Object.fromEntries(clients.map(({ name, runs }) => [name, runs]))
}

function ask(child, message) {
  return new Promise((resolve) => {
    child.once('message', resolve)
    child.send(message)
  })
}

/** Prints the table; gives ours over the best peer, in added CPU. */
function report(mode, runs) {
  const rows = names.map((name) => {
    const cpu = median(runs[name].map((run) => run.cpuMicros))
    const added = median(runs[name].map((run, round) => run.cpuMicros - runs.none[round].cpuMicros))
    return { name, cpu, added, wall: median(runs[name].map((run) => run.wallMicros)), rss: median(runs[name].map((run) => run.rssMiB)) }
  })
  process.stdout.write(`\n${mode}: microseconds a call, median of ${options.rounds} rounds of ${options[mode]} calls\n`)
  process.stdout.write(`${'client'.padEnd(16)}${'added CPU'.padStart(12)}${'CPU'.padStart(10)}${'wall'.padStart(10)}${'MiB'.padStart(8)}\n`)
  for (const { name, cpu, added, wall, rss } of rows) {
    process.stdout.write(
      `${name.padEnd(16)}${added.toFixed(0).padStart(12)}${cpu.toFixed(0).padStart(10)}${wall.toFixed(0).padStart(10)}${rss.toFixed(0).padStart(8)}\n`,
    )
  }
  const best = Math.min(...rows.filter(({ name }) => chosen.includes(name)).map(({ added }) => added))
  const ours = rows.find(({ name }) => name === 'homeground')?.added ?? Number.NaN
  return Math.round((ours / best) * 1000) / 1000
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
