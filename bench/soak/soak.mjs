// A collector that is away for a million spans, then comes back. In memory: the heap must stay flat, what does not fit is dropped and counted, the product's
// calls are not held up. On disk: what the spool has taken within its bound is delivered once the collector is there, whole and once. `--spans N`.
// Ends with one line of JSON.
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { homeground } from '../../sdk/dist/index.js'

const { values: options } = parseArgs({ options: { spans: { type: 'string', default: '1000000' } } })
const spans = Number(options.spans)
if (globalThis.gc === undefined) {
  // Only after a collection does the heap say what is held.
  const { spawnSync } = await import('node:child_process')
  process.exit(spawnSync(process.execPath, ['--expose-gc', ...process.argv.slice(1)], { stdio: 'inherit' }).status ?? 1)
}

const request = {
  method: 'POST',
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'where is my order? '.repeat(20) }] }),
}
const answer = JSON.stringify({
  id: 'a',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'on its way' }, finish_reason: 'stop' }],
})
const model = async () => new Response(answer, { headers: { 'content-type': 'application/json' } })
const url = 'http://model.test/v1/chat/completions'

const away = await soak('in memory, the collector away', { maxQueueBytes: 8 * 2 ** 20 }, spans, undefined)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-soak-'))
// A twentieth of the spans more than fills the bound: some are dropped, the others must arrive.
const maxBytes = Math.round(spans * 20)
const spooled = await soak('on disk, then the collector is back', { spool: { folder, maxBytes } }, Math.round(spans / 20), collector)
const left = fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0)
fs.rmSync(folder, { recursive: true })
const result = {
  spans: away.counts.spans,
  dropped: away.counts.dropped,
  uncounted: away.lost,
  heapGrowthMiB: away.heapGrowthMiB,
  addedMicrosACall: away.addedMicros,
  failedCalls: away.failedCalls + spooled.failedCalls,
  spooled: spooled.counts.spans - spooled.counts.dropped,
  delivered: spooled.received,
  deliveredOnce: spooled.distinct,
  lost: spooled.lost,
  leftOnDiskBytes: left,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
const whole =
  result.uncounted === 0 &&
  result.failedCalls === 0 &&
  result.lost === 0 &&
  result.delivered === result.spooled &&
  result.delivered === result.deliveredOnce
process.exit(whole && result.heapGrowthMiB < 16 ? 0 : 1)

async function soak(name, settings, count, makeCollector) {
  const port = await freePort()
  const hg = homeground({ project: 'soak', endpoint: `http://127.0.0.1:${port}`, ...settings })
  const bare = { fetch: model }
  const client = hg.wrap({ fetch: model })
  let failedCalls = 0
  const call = async (of) => {
    const value = await (await of.fetch(url, request)).json()
    if (value.id !== 'a') failedCalls += 1
  }
  const many = async (of, times) => {
    const start = performance.now()
    for (let index = 0; index < times; index += 1) {
      await call(of)
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    return ((performance.now() - start) * 1000) / times
  }
  await many(bare, 2000)
  const bareMicros = await many(bare, 5000)
  const heaps = []
  let micros = 0
  const parts = 20
  for (let part = 0; part < parts; part += 1) {
    micros += (await many(client, Math.round(count / parts))) / parts
    globalThis.gc()
    const { heapUsed, rss, arrayBuffers } = process.memoryUsage()
    heaps.push((heapUsed + arrayBuffers) / 2 ** 20)
    const { dropped, queuedBytes } = hg.stats()
    process.stderr.write(
      `${name}: ${Math.round(((part + 1) * count) / parts)} spans, held ${heaps.at(-1).toFixed(0)} MiB, rss ${(rss / 2 ** 20).toFixed(0)} MiB, queue ${(queuedBytes / 2 ** 20).toFixed(0)} MiB, dropped ${dropped}\n`,
    )
  }
  await hg.flush(1000)
  const counts = hg.stats()
  const back = makeCollector?.(port)
  const deadline = Date.now() + 120_000
  while (back !== undefined && hg.stats().queuedSpans > 0 && Date.now() < deadline) {
    await hg.flush(30_000)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const { exported } = hg.stats()
  await hg.shutdown(5000)
  const { ids } = (await back?.close()) ?? { ids: [] }
  return {
    counts,
    failedCalls,
    received: ids.length,
    distinct: new Set(ids).size,
    // In memory: spans that are neither waiting nor counted as dropped. On disk: those that were taken and not delivered.
    lost: back === undefined ? counts.spans - counts.dropped - counts.queuedSpans : counts.spans - counts.dropped - exported,
    // The queue fills first; from the middle on nothing may grow.
    heapGrowthMiB: Math.round((Math.max(...heaps.slice(-3)) - Math.max(...heaps.slice(8, 11))) * 10) / 10,
    addedMicros: Math.round(micros - bareMicros),
  }
}

/** Takes spans, and notes the id of each. */
function collector(port) {
  const ids = []
  const server = http.createServer((incoming, response) => {
    const parts = []
    incoming.on('data', (part) => parts.push(part))
    incoming.on('end', () => {
      const body = Buffer.concat(parts)
      // Trace id (field 1, 16 bytes) and span id (field 2, 8 bytes) stand next to each other at a span's beginning.
      for (let at = body.indexOf(Buffer.from([0x0a, 16])); at >= 0; at = body.indexOf(Buffer.from([0x0a, 16]), at + 1)) {
        if (body[at + 18] === 0x12 && body[at + 19] === 8) ids.push(body.toString('hex', at + 20, at + 28))
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  server.listen(port, '127.0.0.1')
  return {
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      return { ids }
    },
  }
}

async function freePort() {
  const server = http.createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
