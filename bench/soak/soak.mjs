// A million spans with the collector away, twice. In memory: the heap must stay flat, what does not fit is dropped and counted. On disk: the same, and when the
// collector is back all that the spool has taken within its bound must arrive, whole and once. The product is eight agents at a time; each run is six spans: the
// agent, a model call that asks for three tools, the tools, a second call with their results. Every tenth run also makes a bare call: what the product waits for
// with and without us is printed. `--spans N`, `--spool-mib N`, `--only memory|disk`. Ends with one line of JSON.
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../dist/store/embedded/free-port.js'
import { homeground } from '../../sdk/dist/index.js'

const { values: options } = parseArgs({
  options: { spans: { type: 'string', default: '1000000' }, 'spool-mib': { type: 'string', default: '512' }, only: { type: 'string' } },
})
const spans = Number(options.spans)
if (globalThis.gc === undefined) {
  // Only after a collection does the heap say what is held.
  const { spawnSync } = await import('node:child_process')
  process.exit(spawnSync(process.execPath, ['--expose-gc', ...process.argv.slice(1)], { stdio: 'inherit' }).status ?? 1)
}

const url = 'http://model.test/v1/chat/completions'
const asked = { model: 'm', messages: [{ role: 'user', content: 'where is my order? '.repeat(20) }] }
const toolNames = ['find_order', 'find_parcel', 'find_customer']
const toolCalls = toolNames.map((name, index) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: JSON.stringify({ id: `A-${index}` }) },
}))
const answer = (message, finish_reason) =>
  Buffer.from(JSON.stringify({ id: 'a', model: 'm', choices: [{ index: 0, message, finish_reason }] }))
const wantsTools = answer({ role: 'assistant', content: null, tool_calls: toolCalls }, 'tool_calls')
const isDone = answer({ role: 'assistant', content: 'on its way' }, 'stop')
const post = (messages) => ({ method: 'POST', body: JSON.stringify({ ...asked, messages }) })
const first = post(asked.messages)
const second = post([
  ...asked.messages,
  { role: 'assistant', content: null, tool_calls: toolCalls },
  ...toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '{"state":"sent"}' })),
])
const headers = { 'content-type': 'application/json' }
const model = async (_, { body }) => new Response(body === first.body ? wantsTools : isDone, { headers })
const spansOfRun = 6
/** Runs under way at a time, as in a server: ours is done between them. */
const lanes = 8

/** How long calls took, in whole microseconds, without keeping each. */
class Times {
  counts = new Uint32Array(100_000)
  total = 0

  add(ms) {
    this.counts[Math.min(this.counts.length - 1, Math.round(ms * 1000))] += 1
    this.total += 1
  }

  at(share) {
    let seen = 0
    return this.counts.findIndex((count) => {
      seen += count
      return seen >= this.total * share
    })
  }
}

const result = { spans }
const faults = []
if (options.only !== 'disk') result.memory = await inMemory()
if (options.only !== 'memory') result.disk = await onDisk()
for (const [name, { unrecorded, uncounted, heapGrowthMiB, failedCalls, ...calls }] of Object.entries({
  memory: result.memory,
  disk: result.disk,
}).filter(([, each]) => each !== undefined)) {
  if (unrecorded !== 0) faults.push(`${name}: ${unrecorded} spans were not made`)
  if (uncounted !== 0) faults.push(`${name}: ${uncounted} spans neither wait, nor are counted as dropped`)
  if (heapGrowthMiB >= 16) faults.push(`${name}: ${heapGrowthMiB} MiB more are held at the end than in the middle`)
  if (failedCalls !== 0) faults.push(`${name}: ${failedCalls} calls of the product failed`)
  const added = calls.wrappedMedianMicros - calls.bareMedianMicros
  if (added >= 100) faults.push(`${name}: a call takes ${added} microseconds longer in the median`)
}
if (result.disk !== undefined && (result.disk.delivered !== result.disk.taken || result.disk.deliveredOnce !== result.disk.taken))
  faults.push(`disk: of ${result.disk.taken} spans taken ${result.disk.delivered} came, ${result.disk.deliveredOnce} different ones`)
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`${JSON.stringify({ ...result, faults: faults.length })}\n`)
process.exit(faults.length === 0 ? 0 : 1)

async function inMemory() {
  const hg = homeground({ project: 'soak', endpoint: `http://127.0.0.1:${await freePort()}`, maxQueueBytes: 8 * 2 ** 20 })
  const figures = await soak('in memory', hg)
  await hg.shutdown(5000)
  return figures
}

async function onDisk() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-soak-'))
  const port = await freePort()
  const spool = { folder, maxBytes: Number(options['spool-mib']) * 2 ** 20 }
  const hg = homeground({ project: 'soak', endpoint: `http://127.0.0.1:${port}`, spool })
  const figures = await soak('on disk', hg)
  const { spans: made, dropped } = hg.stats()
  const back = collector(port)
  const start = performance.now()
  const deadline = Date.now() + 180_000
  while (hg.stats().queuedSpans > 0 && Date.now() < deadline) {
    await hg.flush(30_000)
    process.stderr.write(`on disk: the collector is back, ${hg.stats().queuedSpans} spans left\n`)
  }
  const drainSeconds = Math.round((performance.now() - start) / 100) / 10
  await hg.shutdown(5000)
  const ids = await back.close()
  const left = fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0)
  fs.rmSync(folder, { recursive: true })
  return { ...figures, taken: made - dropped, delivered: ids.length, deliveredOnce: new Set(ids).size, drainSeconds, leftOnDiskBytes: left }
}

/** All runs with nobody to take the spans. */
async function soak(name, hg) {
  const bare = { fetch: model }
  const client = hg.wrap({ fetch: model })
  let failedCalls = 0
  let toolsRun = 0
  const times = { bare: new Times(), wrapped: new Times() }
  const call = async (of, request, into) => {
    const start = performance.now()
    const value = await (await of.fetch(url, request)).json()
    if (value.id !== 'a') failedCalls += 1
    into.add(performance.now() - start)
    return value.choices[0].message
  }
  const execute = () => {
    toolsRun += 1
    return { state: 'sent' }
  }
  const tools = new Map(toolNames.map((tool) => [tool, hg.tool({ name: tool, effect: 'read', parameters: { type: 'object' }, execute })]))
  const agent = hg.agent('support', async () => {
    const { tool_calls } = await call(client, first, times.wrapped)
    for (const each of tool_calls) await tools.get(each.function.name).call(each)
    return (await call(client, second, times.wrapped)).content
  })
  let runs = 0
  const many = async (count) => {
    let begun = 0
    const lane = async () => {
      while (begun < count) {
        begun += 1
        if ((await agent()) !== 'on its way') failedCalls += 1
        if (begun % 10 === 0) await call(bare, second, times.bare)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    runs += begun
  }
  const heaps = []
  const parts = 20
  const start = performance.now()
  for (let part = 0; part < parts; part += 1) {
    await many(Math.ceil(spans / parts / spansOfRun))
    globalThis.gc()
    const { heapUsed, rss, arrayBuffers } = process.memoryUsage()
    heaps.push((heapUsed + arrayBuffers) / 2 ** 20)
    const { spans: made, dropped, queuedBytes } = hg.stats()
    process.stderr.write(
      `${name}: ${made} spans, held ${heaps.at(-1).toFixed(0)} MiB, rss ${(rss / 2 ** 20).toFixed(0)} MiB, waiting ${(queuedBytes / 2 ** 20).toFixed(0)} MiB, dropped ${dropped}\n`,
    )
  }
  const seconds = (performance.now() - start) / 1000
  await hg.flush(2000)
  const { spans: made, dropped, queuedSpans } = hg.stats()
  if (toolsRun !== runs * toolNames.length) failedCalls += 1
  const shares = [0.5, 0.99, 0.999]
  for (const [kind, of] of Object.entries(times))
    process.stdout.write(
      `${name}, the collector away: ${kind.padEnd(7)} calls ${shares.map((share) => `p${share * 100} ${of.at(share)} us`).join(', ')}\n`,
    )
  return {
    made,
    unrecorded: runs * spansOfRun - made,
    seconds: Math.round(seconds),
    spansPerSecond: Math.round(made / seconds),
    dropped,
    waiting: queuedSpans,
    uncounted: made - dropped - queuedSpans,
    // The queue fills first; from the middle on nothing may grow.
    heapGrowthMiB: Math.round((Math.max(...heaps.slice(-3)) - Math.max(...heaps.slice(8, 11))) * 10) / 10,
    failedCalls,
    bareMedianMicros: times.bare.at(0.5),
    wrappedMedianMicros: times.wrapped.at(0.5),
    bareP99Micros: times.bare.at(0.99),
    wrappedP99Micros: times.wrapped.at(0.99),
  }
}

/** Takes spans, and notes the id of each. */
function collector(port) {
  const ids = []
  const mark = Buffer.from([0x0a, 16])
  const server = http.createServer((incoming, response) => {
    const parts = []
    incoming.on('data', (part) => parts.push(part))
    incoming.on('end', () => {
      const body = Buffer.concat(parts)
      // Trace id (field 1, 16 bytes) and span id (field 2, 8 bytes) stand next to each other at a span's beginning.
      for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + 1)) {
        if (body[at + 18] === 0x12 && body[at + 19] === 8) ids.push(body.toString('latin1', at + 20, at + 28))
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  server.listen(port, '127.0.0.1')
  return {
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      return ids
    },
  }
}
