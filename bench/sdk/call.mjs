// One measurement in a process of its own: `node call.mjs PEER plain|stream CALLS UPSTREAM_URL SINK_URL`. Prints one line of JSON.
import { instrument } from './peers.mjs'

const [name, mode, count, upstream, sink] = process.argv.slice(2)
const calls = Number(count)
const { wrap, flush, stats } = await instrument(name, sink)
const { default: OpenAI } = await import('openai')
// Over real sockets, as a user has it.
const client = wrap(new OpenAI({ apiKey: 'x', baseURL: `${upstream}/v1`, maxRetries: 0 }))

const messages = [
  { role: 'system', content: 'You are a support agent. '.repeat(40) },
  { role: 'user', content: 'where is my order? '.repeat(10) },
]
const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
const tools = [{ type: 'function', function: { name: 'search', description: 'search orders', parameters } }]

async function one() {
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
async function many(times, lanes) {
  let begun = 0
  const lane = async () => {
    while (begun++ < times) await one()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const lanes = mode === 'stream' ? 16 : 1
await many(mode === 'stream' ? 96 : 300, lanes)
await flush()
const cpu = process.cpuUsage()
const start = performance.now()
await many(calls, lanes)
const wall = performance.now() - start
await flush()
const { user, system } = process.cpuUsage(cpu)
const exported = stats?.()
if (exported !== undefined && exported.dropped + exported.rejected + exported.internalErrors > 0)
  throw new Error(`spans were lost: ${JSON.stringify(exported)}`)
process.stdout.write(
  `${JSON.stringify({ cpuMicros: (user + system) / calls, wallMicros: (wall * 1000) / calls, rssMiB: process.memoryUsage().rss / 2 ** 20 })}\n`,
)
process.exit(0)
