// What recording costs a product, beside five peers: CPU a call including the export, over real sockets, less that of the bare client. Rounds alternate
// (bare, ours, each peer, bare, …); the figure is the median of the rounds. `--rounds N`, `--plain CALLS`, `--stream CALLS`, `--only a,b`.
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
    rounds: { type: 'string', default: '5' },
    plain: { type: 'string', default: '1500' },
    stream: { type: 'string', default: '64' },
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
  const calls = options[mode]
  if (calls === '0') continue
  const runs = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const name of names) runs[name].push(measure(name, mode, calls))
    process.stderr.write(`${mode}: round ${round + 1} of ${options.rounds}\n`)
  }
  result[`${mode}Ratio`] = report(mode, runs)
}
Object.assign(result, latency(), footprint())
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)

function latency() {
  const run = spawnSync(process.execPath, [path.join(folder, 'latency.mjs'), upstream, sink], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`latency.mjs ended with ${run.status ?? run.signal}: ${run.stderr}`)
  const figures = JSON.parse(run.stdout)
  process.stdout.write(
    `\nlatency: a wrapped call takes ${figures.addedMedianMs} ms longer in the median (interleaved with bare ones); inside our code before its promise resolves p99 ${figures.insideP99Ms} ms\n`,
  )
  return figures
}

/** Import time (median of processes of its own), installed size, dependencies. */
function footprint() {
  const sdk = path.join(folder, '../../sdk')
  const source = `const start = performance.now(); await import(${JSON.stringify(path.join(sdk, 'dist/index.js'))}); process.stdout.write(String(performance.now() - start))`
  const times = Array.from({ length: 7 }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })),
  )
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(sdk, 'package.json'), 'utf8'))
  const sizes = [path.join(sdk, 'dist'), ...Object.keys(dependencies).map((name) => path.join(sdk, '../node_modules', name))].map(
    bytesUnder,
  )
  const figures = {
    importMs: Math.round(median(times) * 10) / 10,
    sdkKiB: Math.round(sizes[0] / 1024),
    installedKiB: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024),
    dependencies: Object.keys(dependencies).length,
  }
  process.stdout.write(
    `import ${figures.importMs} ms; ${figures.sdkKiB} KiB of its own, ${figures.installedKiB} KiB with ${Object.keys(dependencies).join(' and ')}\n`,
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

function measure(name, mode, calls) {
  const run = spawnSync(process.execPath, [path.join(folder, 'call.mjs'), name, mode, calls, upstream, sink], { encoding: 'utf8' })
  if (run.status === 0) return JSON.parse(run.stdout.trim().split('\n').at(-1))
  process.stderr.write(`${name}, ${mode}: ended with ${run.status ?? run.signal}\n${run.stderr.slice(-2000)}\n`)
  process.exit(1)
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
