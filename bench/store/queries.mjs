// How long the two questions of every day take on a store that has grown: the last 50 traces, and one whole episode.
//   npm run bench:queries [-- --spans 1000000 --folder FOLDER --settle-seconds 300]       a folder that is given is kept, and not filled again
// Asked twice: right after the fill, a million spans in a minute, which no product makes, while merges run; and once they are over, as the store lies when it has
// been quiet for two minutes. The engine is told to merge, so that nothing waits for its timers; bodies are recompressed on the way, once they are 90 s old.
// Last line: JSON with spans, freshLastTracesMs, freshEpisodeMs, lastTracesMs, episodeMs (medians of 31, other episodes each time), their 90 % quantiles,
// bytesPerSpan, parts, isSettled (false: the seconds were over first), cpuMicrosPerSpan of the engine from the first insert to the last merge.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openStore, readEngineAddress } from '../../dist/store/index.js'
import { fill, perTrace, traceIdSql } from './fill.mjs'

const { values } = parseArgs({
  options: {
    spans: { type: 'string', default: '1000000' },
    folder: { type: 'string' },
    'settle-seconds': { type: 'string', default: '300' },
  },
})
const traces = Math.ceil(Number(values.spans) / perTrace)
const folder = values.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-queries-'))
const store = await openStore({ folder, environment: {} })
const engine = readEngineAddress(path.join(folder, 'engine'))
try {
  const began = performance.now()
  if ((await query('SELECT count() FROM spans')) !== String(traces * perTrace))
    await fill(query, traces, (spans) => process.stderr.write(`${spans} spans, ${secondsSince(began)} s\n`))
  const filled = performance.now()
  // A trace's own id, any of them: as a person would ask for one.
  const ids = (await query(`SELECT ${traceIdSql(`(number * 7919) % ${traces}`)} FROM numbers(32)`)).split('\n')
  const fresh = await ask(ids)
  const cpuOfAsking = fresh.cpuSeconds
  const isSettled = await settle(filled)
  const cpuMicrosPerSpan = Math.round(((cpuSeconds(engine.pid) - cpuOfAsking) / (traces * perTrace)) * 1e6)
  process.stderr.write(`${isSettled ? 'settled' : 'not settled'} after ${secondsSince(filled)} s\n`)
  const rested = await ask(ids)
  const [bytes, parts] = (await query("SELECT sum(bytes_on_disk), count() FROM system.parts WHERE active AND database = 'homeground'"))
    .split('\t')
    .map(Number)
  const spans = traces * perTrace
  const result = {
    spans,
    freshLastTracesMs: fresh.lastTraces[0],
    freshLastTracesP90Ms: fresh.lastTraces[1],
    freshEpisodeMs: fresh.episode[0],
    freshEpisodeP90Ms: fresh.episode[1],
    lastTracesMs: rested.lastTraces[0],
    lastTracesP90Ms: rested.lastTraces[1],
    episodeMs: rested.episode[0],
    episodeP90Ms: rested.episode[1],
    bytesPerSpan: Math.round(bytes / spans),
    cpuMicrosPerSpan,
    parts,
    isSettled,
  }
  console.table(result)
  console.log(JSON.stringify(result))
} finally {
  await store.close({ stop: true })
  if (values.folder === undefined) fs.rmSync(folder, { recursive: true, force: true })
}

async function ask(ids) {
  const before = cpuSeconds(engine.pid)
  const lastTraces = await quantiles(
    () => store.traces({ project: 'shop', limit: 50 }),
    ({ length }) => length === 50,
  )
  const episode = await quantiles(
    (turn) => store.episode('shop', ids[turn]),
    ([found]) => found?.steps.length === perTrace - 1,
  )
  return { lastTraces, episode, cpuSeconds: cpuSeconds(engine.pid) - before }
}

/** Merges every month of every table into one part, as the engine does by itself after two quiet minutes. False where the time was over first. */
async function settle(filled) {
  const deadline = filled + Number(values['settle-seconds']) * 1_000
  // Younger bodies are merged in the quick codec, and again later in the other one.
  await sleep(Math.max(0, Math.min(deadline, filled + 95_000) - performance.now()))
  const partitions = "SELECT DISTINCT table, partition_id FROM system.parts WHERE active AND database = 'homeground' ORDER BY 1, 2"
  const left = (await query(partitions)).split('\n').map((line) => line.split('\t'))
  for (const [table, partition] of left) {
    if (performance.now() >= deadline) return false
    const optimize = `OPTIMIZE TABLE ${table} PARTITION ID '${partition}' FINAL`
    // One that is cut off goes on in the engine, as far as it was begun.
    await query(optimize, AbortSignal.timeout(Math.ceil(deadline - performance.now()))).catch((error) => {
      if (error.name !== 'TimeoutError') throw error
    })
  }
  while (performance.now() < deadline) {
    const several = `SELECT count() FROM (SELECT 1 FROM system.parts WHERE active AND database = 'homeground' GROUP BY table, partition_id HAVING count() > 1)`
    if ((await query(`SELECT (SELECT count() FROM system.merges) + (${several})`)) === '0') return true
    await sleep(1_000)
  }
  return false
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}

function secondsSince(began) {
  return Math.round((performance.now() - began) / 1000)
}

/** User and system time of a process; Linux only. */
function cpuSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Median and 90 % in milliseconds. The first call warms the connection and is not counted. */
async function quantiles(ask, isRight) {
  const took = []
  for (let turn = 0; turn < 32; turn++) {
    const began = performance.now()
    const answer = await ask(turn)
    took.push(performance.now() - began)
    if (!isRight(answer)) throw new Error('the store answered something else')
  }
  took.shift()
  took.sort((a, b) => a - b)
  return [took[15], took[27]].map((ms) => Number(ms.toFixed(1)))
}

async function query(sql, signal) {
  const headers = { 'X-ClickHouse-User': engine.user, 'X-ClickHouse-Key': engine.password, 'X-ClickHouse-Database': 'homeground' }
  const settings = 'max_query_size=10000000&max_partitions_per_insert_block=0'
  const response = await fetch(`${engine.url}/?${settings}`, { method: 'POST', headers, body: sql, signal })
  const text = (await response.text()).trim()
  if (!response.ok) throw new Error(text.slice(0, 1_000))
  return text
}
