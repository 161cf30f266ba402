// What goes through Kafka: one broker, one receiver, one ingester, one embedded engine. First as much as is taken, until all of it is in the store: the sustained rate.
// Then half of that rate, while single spans are sent and looked for: the time from a request's first byte until a query finds it.
//   npm run bench:kafka [-- --seconds 60]      the last line is JSON
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../../store/embedded/free-port.ts'
import { type Engine, startEngine } from '../../../store/index.ts'
import { brokerMissing, freePorts } from '../../../test/support/kafka-broker.ts'
import { protobufTraces } from '../../../test/support/otlp.ts'
import { brokerMember, collectorMember } from '../../faults/members.ts'
import { post, sendTraffic, span } from './traffic.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
const seconds = Number(values.seconds)
const missing = brokerMissing()
if (missing !== undefined) throw new Error(`this needs a Kafka broker: ${missing}`)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-kafka-bench-'))
const engine = await startEngine({ folder: path.join(folder, 'engine') })
const broker = await brokerMember({ folder: path.join(folder, 'broker'), ports: await freePorts() })
const settings = { HOMEGROUND_FOLDER: folder, HOMEGROUND_KAFKA_BROKERS: broker.address }
const [receiver, ingester] = await Promise.all([
  collectorMember('receiver', await freePort(), { ...settings, HOMEGROUND_ROLE: 'receive' }, path.join(folder, 'receiver.log')),
  collectorMember('ingester', await freePort(), { ...settings, HOMEGROUND_ROLE: 'ingest' }, path.join(folder, 'ingester.log')),
])

const begun = performance.now()
const full = await sendTraffic({ url: receiver.url, seconds, spansPerRequest: 100, connections: 16 })
await untilStored(full.spans)
const sustained = full.spans / ((performance.now() - begun) / 1_000)
process.stdout.write(
  `as much as is taken: ${full.spans} spans in ${full.seconds.toFixed(1)} s, all stored at ${Math.round(sustained)} spans/s\n`,
)

const rate = sustained / 2
const latencies: number[] = []
const paced = sendTraffic({ url: receiver.url, seconds, spansPerRequest: 20, connections: 8, rate })
let isOver = false
const probers = Array.from({ length: 4 }, async (_, n) => {
  for (let probe = 0; !isOver; probe++) latencies.push(await latency(n * 1_000_000 + probe))
})
const half = await paced
isOver = true
await Promise.all(probers)
latencies.sort((one, other) => one - other)
const quantile = (of: number) => Math.round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * of))] ?? Number.NaN)
process.stdout.write(
  `half of it: ${Math.round(half.spans / half.seconds)} spans/s; ${latencies.length} probes queryable after ${quantile(0.5)} ms (median), ${quantile(0.99)} ms (p99)\n`,
)
await Promise.all([receiver.end(), ingester.end()])
await broker.end()
await engine.close({ stop: true })
fs.rmSync(folder, { recursive: true, force: true })
const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024)
process.stdout.write(
  `${JSON.stringify({
    kafkaSpansPerSecond: Math.round(sustained),
    acceptedSpansPerSecond: Math.round(full.spans / full.seconds),
    queryableP50Ms: quantile(0.5),
    queryableP99Ms: quantile(0.99),
    receiverPeakMb: megabytes(receiver.peakMemory()),
    ingesterPeakMb: megabytes(ingester.peakMemory()),
  })}\n`,
)

async function untilStored(spans: number): Promise<void> {
  while (Number(await query(engine, 'SELECT count() FROM homeground.spans')) < spans) await pause(100)
}

/** Milliseconds from the request until a query finds its span. */
async function latency(n: number): Promise<number> {
  const trace = `feed${n.toString(16).padStart(28, '0')}`
  const bytes = protobufTraces([span(trace)])
  const start = performance.now()
  if ((await post(`${receiver.url}/v1/traces`, bytes)) !== 200) throw new Error('a probe was refused')
  while ((await query(engine, `SELECT count() FROM homeground.spans WHERE project = 'shop' AND trace_id = '${trace}'`)) === '0')
    await pause(10)
  return performance.now() - start
}

async function query(of: Engine, sql: string): Promise<string> {
  const { url, user, password } = of.address()
  const answer = await fetch(url, { method: 'POST', body: sql, headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password } })
  const text = (await answer.text()).trim()
  if (!answer.ok) throw new Error(text)
  return text
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
