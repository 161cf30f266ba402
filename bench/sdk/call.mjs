// One client in a process of its own: `node call.mjs PEER 'plain'|'stream' WARM_UP CALLS UPSTREAM_URL SINK_URL`. Makes the calls and flushes; prints what a call took, with
// all threads of the process and the whole export, as one line of JSON.
import { setTimeout } from 'node:timers/promises'
import { instrument } from './peers.mjs'

const [name, mode, warmUp, calls, upstream, sink] = process.argv.slice(2)
const { wrap, flush, stats, around } = await instrument(name, sink)
const { default: OpenAI } = await import('openai')
// Over real sockets, as a user has it.
const client = wrap(new OpenAI({ apiKey: 'x', baseURL: `${upstream}/v1`, maxRetries: 0 }))

const messages = [
  { role: 'system', content: 'You are a support agent. '.repeat(40) },
  { role: 'user', content: 'where is my order? '.repeat(10) },
]
const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
const tools = [{ type: 'function', function: { name: 'search', description: 'search orders', parameters } }]

const one = around?.(ask) ?? ask

async function ask() {
  if (mode === 'plain') {
    await client.chat.completions.create({ model: 'gpt-4o', messages, tools })
    return
  }
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    messages,
    tools,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? ''
  if (text.length !== 179 * 5) throw new Error(`the stream lost text: ${text.length}`)
}

/** A stream lasts 0.3 s: many at a time, or the bench would wait for its server. */
const lanes = mode === 'stream' ? 16 : 1

async function many(times) {
  let begun = 0
  const lane = async () => {
    while (begun++ < times) await one()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** One peer's flush rests for seconds: nobody waits for that. */
const maxFlushMs = 1000
const flushed = () => Promise.race([flush(), setTimeout(maxFlushMs)])

await many(Number(warmUp))
await flushed()
const cpu = process.cpuUsage()
const start = performance.now()
await many(Number(calls))
const wallMicros = (performance.now() - start) * 1000
await flushed()
const { user, system } = process.cpuUsage(cpu)
const exported = stats?.()
if (exported !== undefined && exported.dropped + exported.rejected + exported.internalErrors > 0)
  throw new Error(`spans were lost: ${JSON.stringify(exported)}`)
const line = { wallMicros: wallMicros / calls, cpuMicros: (user + system) / calls, rssMiB: process.memoryUsage().rss / 2 ** 20 }
// Some peers leave timers behind.
process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(0))
