// What recording costs a product, beside five peers: CPU a call including the export, over real sockets, less that of the bare client. Each client is a process
// of its own, and all are treated alike:
// - Warm: CPU a call falls to a third within the first 3,000 calls of a process, while the compiler works, and rises again when V8 throws away the code of a
//   process that rests: they take turns before the first round too, and keep their code. A product in use does the same.
// - In a round the clients take turns (bare, ours, each peer, bare, …), several each; a turn ends with a flush, so that it holds the export of its own calls, at a
//   size at which exporters send anyway. All threads of the process count, with what they did since its last turn.
// - A round's figure is its middle turn: what else the machine does falls upon single turns, always on top. The mean of all turns stands beside it, so that a
//   cost that comes seldom, like a full garbage collection, is seen. Then the median of the rounds.
// `--rounds N`, `--plain CALLS`, `--stream CALLS` (a round's; 0 leaves it out), `--only a,b`, `--raw FILE` (each turn's figures, as JSON).
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
    raw: { type: 'string' },
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
const raw = {}
for (const mode of ['plain', 'stream']) {
  const calls = Number(options[mode])
  if (calls === 0) continue
  raw[mode] = await measure(mode, calls)
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

/** By client and round, its turns. */
async function measure(mode, calls) {
  const warmUp = mode === 'plain' ? 3000 : 256
  const atATime = mode === 'plain' ? 250 : 32
  const clients = []
  for (const name of names) {
    const child = fork(path.join(folder, 'call.mjs'), [name, mode, upstream, sink], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A process that rests while the others have their turns would throw its code away, and compile it again in each of its own.
      execArgv: ['--no-flush-bytecode'],
    })
    children.push(child)
    child.once('exit', (code) => {
      if (code === 0) return
      process.stderr.write(`${name}, ${mode}: ended with ${code}\n`)
      process.exit(1)
    })
    await new Promise((resolve) => child.once('message', resolve))
    clients.push({ name, child, rounds: [] })
  }
  const turns = async (count, round) => {
    for (let made = 0; made < count; made += atATime) {
      for (const { child, rounds } of clients) {
        const turn = await ask(child, { calls: atATime })
        if (round !== undefined) rounds[round].push(turn)
      }
    }
  }
  await turns(warmUp)
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const { rounds } of clients) rounds.push([])
    await turns(calls, round)
    process.stderr.write(`${mode}: round ${round + 1} of ${options.rounds}\n`)
  }
  for (const { child } of clients) child.disconnect()
  return Object.fromEntries(clients.map(({ name, rounds }) => [name, rounds]))
}

function ask(child, message) {
  return new Promise((resolve) => {
    child.once('message', resolve)
    child.send(message)
  })
}

/** Prints the table; gives ours over the best peer, in added CPU. */
function report(mode, rounds) {
  const figure = (name, field, ofTurns) => rounds[name].map((turns) => ofTurns(turns.map((turn) => turn[field])))
  const added = (name, ofTurns) => {
    const bare = figure('none', 'cpuMicros', ofTurns)
    return median(figure(name, 'cpuMicros', ofTurns).map((cpu, round) => cpu - bare[round]))
  }
  const rows = names.map((name) => ({
    name,
    added: added(name, median),
    addedMean: added(name, mean),
    cpu: median(figure(name, 'cpuMicros', median)),
    wall: median(figure(name, 'wallMicros', median)),
    rss: median(figure(name, 'rssMiB', median)),
  }))
  process.stdout.write(`\n${mode}: microseconds a call, median of ${options.rounds} rounds of ${options[mode]} calls\n`)
  const line = (...cells) =>
    process.stdout.write(`${cells.map((cell, column) => (column === 0 ? cell.padEnd(16) : cell.padStart(12))).join('')}\n`)
  line('client', 'added CPU', 'in the mean', 'CPU', 'wall', 'MiB')
  for (const { name, ...figures } of rows) line(name, ...Object.values(figures).map((value) => value.toFixed(0)))
  const ratio = (field) => {
    const best = Math.min(...rows.filter(({ name }) => chosen.includes(name)).map((row) => row[field]))
    const ours = rows.find(({ name }) => name === 'homeground')?.[field] ?? Number.NaN
    return Math.round((ours / best) * 1000) / 1000
  }
  return { [`${mode}Ratio`]: ratio('added'), [`${mode}MeanRatio`]: ratio('addedMean') }
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
