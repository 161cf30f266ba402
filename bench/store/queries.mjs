// How long the two questions of every day take on a store that has grown: the last 50 traces, and one whole episode.
// Makes the spans itself: traces of 20 spans (an agent, ten model calls that repeat their history, nine tools), spread over 90 days, on an engine of its own.
//   npm run bench:queries [-- --spans 1000000]
// Last line: JSON with spans, lastTracesMs, episodeMs (medians of 15, other traces each time), bytesPerSpan, cpuSecondsPerMillionSpans (engine and writer together).
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { emptyRow } from '@homeground/sdk/trace'
import { openStore, readEngineAddress } from '../../dist/store/index.js'

const { values } = parseArgs({ options: { spans: { type: 'string', default: '1000000' } } })
const perTrace = 20
const traces = Math.ceil(Number(values.spans) / perTrace)
const day = 86_400_000_000_000n
const newest = 1_780_000_000_000_000_000n
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-queries-'))
const store = await openStore({ folder, environment: {} })
const engine = readEngineAddress(path.join(folder, 'engine'))
const words = Array.from({ length: 3_000 }, () => randomBytes(2 + Math.floor(Math.random() * 5)).toString('hex'))
const ids = []
try {
  await fill()
  const before = await bytesOnDisk()
  const lastTracesMs = await median(
    () => store.traces({ project: 'shop', limit: 50 }),
    ({ length }) => length === 50,
  )
  const episodeMs = await median(
    (turn) => store.episode('shop', ids[(turn * 7_919) % ids.length]),
    ([episode]) => episode?.steps.length === perTrace - 1,
  )
  const cpu = cpuSeconds(engine.pid) + process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  const spans = traces * perTrace
  console.table({
    'last 50 traces, ms': lastTracesMs,
    'one whole episode, ms': episodeMs,
    'bytes a span on disk': Math.round(before / spans),
  })
  console.log(
    JSON.stringify({
      spans,
      lastTracesMs,
      episodeMs,
      bytesPerSpan: Math.round(before / spans),
      cpuSecondsPerMillionSpans: Math.round((cpu / spans) * 1e6),
    }),
  )
} finally {
  await store.close({ stop: true })
  fs.rmSync(folder, { recursive: true, force: true })
}

async function fill() {
  const began = performance.now()
  let rows = []
  for (let n = 0; n < traces; n++) {
    rows.push(...traceRows(n))
    if (rows.length < 5_000 && n < traces - 1) continue
    await store.insertSpans(rows)
    rows = []
    if (n % 10_000 < 250) process.stderr.write(`${(n + 1) * perTrace} spans, ${Math.round((performance.now() - began) / 1000)} s\n`)
  }
}

function traceRows(n) {
  const traceId = randomBytes(16).toString('hex')
  ids.push(traceId)
  const agentId = randomBytes(8).toString('hex')
  const start = newest - (BigInt(traces - n) * 90n * day) / BigInt(traces)
  const common = { ...emptyRow(), project: 'shop', traceId, session: `session-${n >> 2}`, user: `user-${n % 5_000}` }
  const agent = {
    kind: 'agent',
    spanId: agentId,
    name: 'invoke_agent desk',
    agentName: 'desk',
    input: `"${text(60)}"`,
    output: `"${text(120)}"`,
  }
  const rows = [{ ...common, ...agent, startTimeUnixNano: start, endTimeUnixNano: start + 20_000_000_000n }]
  const messages = [{ role: 'system', content: text(400) }]
  for (let step = 1; step < perTrace; step++) {
    const at = start + BigInt(step) * 900_000_000n
    const place = {
      spanId: randomBytes(8).toString('hex'),
      parentSpanId: agentId,
      startTimeUnixNano: at,
      endTimeUnixNano: at + 800_000_000n,
    }
    if (step % 2 === 0) {
      rows.push({
        ...common,
        ...place,
        kind: 'tool',
        name: 'execute_tool look',
        toolName: 'look',
        effect: 'read',
        arguments: `{"q":"${text(20)}"}`,
        result: `"${text(200)}"`,
      })
      continue
    }
    messages.push({ role: 'user', content: text(150) })
    const message = { role: 'assistant', content: text(150) }
    rows.push({
      ...common,
      ...place,
      kind: 'model',
      name: 'chat gpt-4o',
      api: 'openai.chat',
      provider: 'openai',
      model: 'gpt-4o',
      finishReasons: ['stop'],
      inputTokens: 900,
      outputTokens: 40,
      requestBody: JSON.stringify({ model: 'gpt-4o', messages }),
      responseBody: JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    })
    messages.push(message)
  }
  return rows
}

function text(length) {
  let made = ''
  while (made.length < length) made += `${words[Math.floor(Math.random() * Math.random() * words.length)]} `
  return made.slice(0, length)
}

/** The first call warms the connection and is not counted. */
async function median(ask, isRight) {
  const took = []
  for (let turn = 0; turn < 16; turn++) {
    const began = performance.now()
    const answer = await ask(turn)
    took.push(performance.now() - began)
    if (!isRight(answer)) throw new Error('the store answered something else')
  }
  took.shift()
  return Number(took.sort((a, b) => a - b)[7].toFixed(1))
}

async function bytesOnDisk() {
  const headers = { 'X-ClickHouse-User': engine.user, 'X-ClickHouse-Key': engine.password }
  const body = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'homeground'"
  return Number(await (await fetch(engine.url, { method: 'POST', headers, body })).text())
}

/** User and system time of a process; Linux only. */
function cpuSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
