// One client in a process of its own, which makes calls when its parent says so: `fork('call.mjs', [PEER, 'plain' | 'stream', UPSTREAM_URL, SINK_URL])`. Answers
// `{ calls }` when so many are made and flushed, with the CPU that it has used since its last turn: what goes on between turns belongs to the next one.
import { setTimeout } from 'node:timers/promises'
import { instrument } from './peers.mjs'

const [name, mode, upstream, sink] = process.argv.slice(2)
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
const lanes = mode === 'stream' ? 16 : 1

async function many(times) {
  let begun = 0
  const lane = async () => {
    while (begun++ < times) await one()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** One peer's flush rests for seconds: nobody waits for that, and what it does later belongs to its next turn. */
const maxFlushMs = 300

let cpu = process.cpuUsage()
process.on('message', async ({ calls }) => {
  const start = performance.now()
  await many(calls)
  const wallMicros = (performance.now() - start) * 1000
  await Promise.race([flush(), setTimeout(maxFlushMs)])
  const exported = stats?.()
  if (exported !== undefined && exported.dropped + exported.rejected + exported.internalErrors > 0)
    throw new Error(`spans were lost: ${JSON.stringify(exported)}`)
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  process.send({ wallMicros: wallMicros / calls, cpuMicros: (user + system) / calls, rssMiB: process.memoryUsage().rss / 2 ** 20 })
})
process.on('disconnect', () => process.exit(0))
process.send('ready')
