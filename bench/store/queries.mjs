// How long the two questions of every day take on a store that has grown: the last 50 traces, and one whole episode.
//   npm run bench:queries [-- --spans 1000000 --folder FOLDER --unsettled]       a folder that is given is kept, and not filled again
// It waits until the merges of what it has just put in are over, some minutes: a million spans in a minute is what no product does. `--unsettled` does not wait.
// Last line: JSON with spans, lastTracesMs, episodeMs (medians of 31, other traces each time), their 90 % quantiles, bytesPerSpan, parts.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openStore, readEngineAddress } from '../../dist/store/index.js'
import { fill, perTrace, traceIdSql } from './fill.mjs'

const { values } = parseArgs({
  options: { spans: { type: 'string', default: '1000000' }, folder: { type: 'string' }, unsettled: { type: 'boolean' } },
})
const traces = Math.ceil(Number(values.spans) / perTrace)
const folder = values.folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-queries-'))
const store = await openStore({ folder, environment: {} })
const engine = readEngineAddress(path.join(folder, 'engine'))
try {
  const began = performance.now()
  if ((await query('SELECT count() FROM spans')) !== String(traces * perTrace))
    await fill(query, traces, (spans) => process.stderr.write(`${spans} spans, ${Math.round((performance.now() - began) / 1000)} s\n`))
  if (!values.unsettled) await settled()
  // A trace's own id, any of them: as a person would ask for one.
  const ids = (await query(`SELECT ${traceIdSql(`(number * 7919) % ${traces}`)} FROM numbers(32)`)).split('\n')
  const last = await quantiles(
    () => store.traces({ project: 'shop', limit: 50 }),
    ({ length }) => length === 50,
  )
  const episode = await quantiles(
    (turn) => store.episode('shop', ids[turn]),
    ([found]) => found?.steps.length === perTrace - 1,
  )
  const [bytes, parts] = (await query("SELECT sum(bytes_on_disk), count() FROM system.parts WHERE active AND database = 'homeground'"))
    .split('\t')
    .map(Number)
  const spans = traces * perTrace
  const [lastTracesMs, lastTracesP90Ms, episodeMs, episodeP90Ms] = [...last, ...episode]
  const result = { spans, lastTracesMs, lastTracesP90Ms, episodeMs, episodeP90Ms, bytesPerSpan: Math.round(bytes / spans), parts }
  console.table(result)
  console.log(JSON.stringify(result))
} finally {
  await store.close({ stop: true })
  if (values.folder === undefined) fs.rmSync(folder, { recursive: true, force: true })
}

/** Until no part has been merged for a while: those of a month that is quiet for two minutes become one. */
async function settled() {
  const deadline = performance.now() + 10 * 60_000
  let before = ''
  for (let quiet = 0; quiet < 16 && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    const now = await query(
      "SELECT (SELECT count() FROM system.merges), groupArray(name) FROM (SELECT name FROM system.parts WHERE active AND database = 'homeground' ORDER BY name)",
    )
    quiet = now === before ? quiet + 1 : 0
    before = now
  }
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

async function query(sql) {
  const headers = { 'X-ClickHouse-User': engine.user, 'X-ClickHouse-Key': engine.password, 'X-ClickHouse-Database': 'homeground' }
  const settings = 'max_query_size=10000000&max_partitions_per_insert_block=0'
  const response = await fetch(`${engine.url}/?${settings}`, { method: 'POST', headers, body: sql })
  const text = (await response.text()).trim()
  if (!response.ok) throw new Error(text.slice(0, 1_000))
  return text
}
