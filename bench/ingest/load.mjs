// OTLP/HTTP load: protobuf requests with 2.6 KB of content a span, over as many connections as asked, for as long as asked. Loopback only. Prints one line of JSON.
//   node load.mjs --url http://127.0.0.1:4318/v1/traces --seconds 60 --batch 100 --connections 16 [--pids 12,34]
// Bodies are made once and sent again with new trace ids, so that memory stays bounded and no span is sent twice.
import crypto from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:4318/v1/traces' },
    seconds: { type: 'string', default: '60' },
    batch: { type: 'string', default: '100' },
    connections: { type: 'string', default: '16' },
    content: { type: 'string', default: '2600' },
    pids: { type: 'string', default: '' },
  },
})
const url = new URL(values.url)
if (!/^(127\.|localhost$|\[::1\])/.test(url.hostname)) throw new Error('loopback only')
const [seconds, batch, connections, content] = [values.seconds, values.batch, values.connections, values.content].map(Number)
const pids = values.pids.split(',').filter(Boolean)

const words = Array.from({ length: 3_000 }, () => {
  const length = 2 + Math.floor(Math.random() * 9)
  return Array.from({ length }, () => String.fromCharCode(97 + Math.floor(Math.random() * Math.random() * 26))).join('')
})
const bodies = Array.from({ length: Math.ceil(20_000 / batch) }, makeBody)
const agent = new http.Agent({ keepAlive: true, maxSockets: connections })

const before = pids.map(cpuSeconds)
const peak = pids.map(() => 0)
const sampler = setInterval(() => {
  for (const [n, pid] of pids.entries()) peak[n] = Math.max(peak[n], residentMb(pid))
}, 500)
const started = performance.now()
const stop = started + seconds * 1_000
const latencies = []
const statuses = {}
let sent = 0
let turn = 0
await Promise.all(Array.from({ length: connections }, worker))
clearInterval(sampler)
const elapsed = (performance.now() - started) / 1_000
latencies.sort((a, b) => a - b)
const cpu = pids.map((pid, n) => Number((cpuSeconds(pid) - before[n]).toFixed(1)))
console.log(
  JSON.stringify({
    spans: sent,
    seconds: Number(elapsed.toFixed(1)),
    spansPerSecond: Math.round(sent / elapsed),
    statuses,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuSeconds: cpu,
    peakMb: peak,
  }),
)
agent.destroy()

async function worker() {
  while (performance.now() < stop) {
    const body = bodies[turn++ % bodies.length]
    for (const at of body.traceIds) crypto.randomFillSync(body.bytes, at, 16)
    // The bytes must not change under a request that is still being sent.
    const bytes = Buffer.from(body.bytes)
    for (;;) {
      const begin = performance.now()
      const status = await post(bytes)
      statuses[status] = (statuses[status] ?? 0) + 1
      latencies.push(performance.now() - begin)
      if (status === 200) sent += batch
      if (![429, 503].includes(status) || performance.now() > stop) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

function post(bytes) {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/x-protobuf', 'content-length': bytes.length }
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    request.on('error', (error) => resolve(error.code ?? error.message))
    request.end(bytes)
  })
}

/** An ExportTraceServiceRequest of `batch` spans, 20 a trace, and where its trace ids stand. */
function makeBody() {
  const marker = crypto.randomBytes(16)
  const start = BigInt(Date.now()) * 1_000_000n
  const spans = Array.from({ length: batch }, (_, n) => field(2, makeSpan(marker, n, start + BigInt(n) * 1_000_000n)))
  const resource = field(1, field(1, attribute('service.name', 'load')))
  const scopeSpans = field(2, Buffer.concat([field(1, field(1, 'load')), ...spans]))
  const bytes = field(1, Buffer.concat([resource, scopeSpans]))
  const traceIds = []
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 16)) traceIds.push(at)
  return { bytes, traceIds }
}

function makeSpan(traceId, n, start) {
  const attributes = [
    ['gen_ai.operation.name', 'chat'],
    ['gen_ai.request.model', `gpt-${n % 5}`],
    ['gen_ai.usage.input_tokens', n % 900],
    ['gen_ai.usage.output_tokens', n % 300],
    ['openinference.span.kind', 'LLM'],
    ['input.value', text(content / 2)],
    ['output.value', text(content / 2)],
  ]
  return Buffer.concat([
    field(1, traceId),
    field(2, crypto.randomBytes(8)),
    field(5, 'llm.call'),
    Buffer.concat([varint((6 << 3) | 0), varint(3)]),
    fixed64(7, start),
    fixed64(8, start + 5_000_000n),
    ...attributes.map(([key, value]) => field(9, attribute(key, value))),
  ])
}

function attribute(key, value) {
  return Buffer.concat([
    field(1, key),
    field(2, typeof value === 'number' ? Buffer.concat([varint(3 << 3), varint(value)]) : field(1, value)),
  ])
}

function field(number, value) {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function fixed64(number, value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint((number << 3) | 1), bytes])
}

function varint(value) {
  const bytes = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

function text(length) {
  let made = ''
  while (made.length < length) made += `${words[Math.floor(Math.random() * Math.random() * words.length)]} `
  return made.slice(0, length)
}

function quantile(q) {
  return Number((latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0).toFixed(1))
}

/** User and system time of a process; Linux only. */
function cpuSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function residentMb(pid) {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}
