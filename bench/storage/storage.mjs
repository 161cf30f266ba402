// How small the store keeps real episodes: raw request and response bodies, sent through a real collector in interleaved order,
// over the bytes of all tables' active parts once merges have settled. No OPTIMIZE. Last line: JSON with `ratio`.
// What is sent is what the SDK would send: agent, model and tool spans with random ids, 20 spans a request; only the model calls' bodies count above the line,
// everything that is stored counts below it.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { directQueue, startCollector } from '../../dist/collector/index.js'
import { openStore, readEngineAddress } from '../../dist/store/index.js'

const columnsSql = `SELECT name, data_compressed_bytes AS compressed, data_uncompressed_bytes AS uncompressed, marks_bytes AS marks
  FROM system.columns WHERE database = 'homeground' AND table = 'spans' AND compressed > 0 ORDER BY compressed DESC LIMIT 12`

const root = path.resolve(import.meta.dirname, '../..')
const quiet = { debug() {}, info() {}, warn: console.warn, error: console.error, fatal: console.error }

const episodes = zlib
  .gunzipSync(fs.readFileSync(path.join(root, 'examples/data/tau-airline-gpt4o.jsonl.gz')))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const streams = episodes.map(spansOf)
const rawBytes = streams.flat().reduce((total, span) => total + span.bodyBytes, 0)
const calls = streams.flat().filter((span) => span.bodyBytes > 0).length

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-bench-'))
const store = await openStore({ folder, environment: {} })
const collector = await startCollector({ queue: directQueue(store), log: quiet, port: 0 })
try {
  await send(interleaved(streams))
  const tables = await settled()
  const stored = tables.reduce((total, table) => total + Number(table.bytes), 0)
  const columns = await query(columnsSql)
  console.log(`${episodes.length} episodes, ${calls} model calls, ${(rawBytes / 1e6).toFixed(1)} MB of request and response bodies`)
  console.table(tables)
  console.table(columns)
  console.log(JSON.stringify({ ratio: Number((rawBytes / stored).toFixed(1)), rawBytes, storedBytes: stored, calls }))
} finally {
  await collector.close()
  await store.close({ stop: true })
  fs.rmSync(folder, { recursive: true, force: true })
}

/** One episode as spans in order: the agent last, as it ends last. */
function spansOf(episode, index) {
  const traceId = randomBytes(16).toString('hex')
  const agentId = randomBytes(8).toString('hex')
  const base = 1_780_000_000_000 + index * 7_000
  const session = `tau-airline-${episode.task_id}`
  const spans = []
  let at = base
  const add = (name, attributes, parentSpanId, bodyBytes, spanId = randomBytes(8).toString('hex')) => {
    const took = 300 + Math.random() * 2_000
    const nano = (ms) => String(BigInt(Math.round(ms * 1000)) * 1000n)
    spans.push({
      bodyBytes,
      at: at + took,
      span: {
        traceId,
        spanId,
        ...(parentSpanId === undefined ? {} : { parentSpanId }),
        name,
        kind: 3,
        startTimeUnixNano: nano(parentSpanId === undefined ? base : at),
        endTimeUnixNano: nano(at + took),
        attributes: Object.entries({ 'session.id': session, ...attributes }).map(([key, value]) => ({
          key,
          value:
            typeof value === 'number'
              ? { intValue: value }
              : Array.isArray(value)
                ? { arrayValue: { values: value.map((item) => ({ stringValue: item })) } }
                : { stringValue: value },
        })),
      },
    })
    at += took
  }
  const { messages } = episode
  const callNames = new Map()
  for (const [k, message] of messages.entries()) {
    if (message.role === 'assistant') {
      const id = `chatcmpl-${randomBytes(22).toString('base64url').slice(0, 29)}`
      const finish = message.tool_calls ? 'tool_calls' : 'stop'
      const usage = { prompt_tokens: 1_200 + k * 90, completion_tokens: 40 + (JSON.stringify(message).length >> 2), total_tokens: 0 }
      usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
      const request = JSON.stringify({ model: 'gpt-4o', messages: messages.slice(0, k), temperature: 0 })
      const response = JSON.stringify({
        id,
        object: 'chat.completion',
        created: Math.floor(at / 1000),
        model: 'gpt-4o-2024-08-06',
        choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
        usage,
      })
      for (const call of message.tool_calls ?? []) callNames.set(call.id, call.function)
      const attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.response.model': 'gpt-4o-2024-08-06',
        'gen_ai.response.id': id,
        'gen_ai.response.finish_reasons': [finish],
        'gen_ai.usage.input_tokens': usage.prompt_tokens,
        'gen_ai.usage.output_tokens': usage.completion_tokens,
        'server.address': 'api.openai.com',
        'homeground.api': 'openai.chat',
        'homeground.attempt': 1,
        'homeground.request.body': request,
        'homeground.response.body': response,
      }
      add('chat gpt-4o', attributes, agentId, Buffer.byteLength(request) + Buffer.byteLength(response))
    } else if (message.role === 'tool') {
      const call = callNames.get(message.tool_call_id)
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call?.name ?? 'unknown',
        'gen_ai.tool.call.id': message.tool_call_id,
        'gen_ai.tool.call.arguments': call?.arguments ?? '{}',
        'gen_ai.tool.call.result': JSON.stringify(message.content),
        'homeground.tool.effect': 'unknown',
      }
      add(`execute_tool ${call?.name ?? 'unknown'}`, attributes, agentId, 0)
    }
  }
  const answers = messages.filter(({ role, content }) => role === 'assistant' && content)
  const agent = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'airline-desk',
    'homeground.agent.input': JSON.stringify(messages.find(({ role }) => role === 'user')?.content ?? ''),
    'homeground.agent.output': JSON.stringify(answers.at(-1)?.content ?? ''),
  }
  add('invoke_agent airline-desk', agent, undefined, 0, agentId)
  return spans
}

/** All sessions at once: each next span comes from a session drawn by chance. */
function interleaved(queues) {
  const waiting = queues.map((queue) => [...queue])
  const order = []
  let live = waiting.filter((queue) => queue.length > 0)
  while (live.length > 0) {
    const queue = live[Math.floor(Math.random() * live.length)]
    order.push(queue.shift())
    if (queue.length === 0) live = live.filter((other) => other !== queue)
  }
  return order
}

async function send(spans) {
  const bodies = []
  for (let at = 0; at < spans.length; at += 20) bodies.push(spans.slice(at, at + 20).map(({ span }) => span))
  let next = 0
  const worker = async () => {
    while (next < bodies.length) {
      const batch = bodies[next++]
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'airline' } }] }
      const response = await fetch(`${collector.url}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          resourceSpans: [{ resource, scopeSpans: [{ scope: { name: '@homeground/sdk', version: '0.1.0' }, spans: batch }] }],
        }),
      })
      if (response.status !== 200) throw new Error(`the collector answered ${response.status}`)
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
}

/** The tables' bytes once nothing has merged for two and a half minutes: a quiet month is merged after two. */
async function settled() {
  let last = ''
  let since = Date.now()
  for (;;) {
    const tables = await query(
      "SELECT table, count() AS parts, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, sum(data_compressed_bytes) AS data, sum(secondary_indices_compressed_bytes) AS indices, sum(marks_bytes) AS marks FROM system.parts WHERE active AND database = 'homeground' GROUP BY table ORDER BY bytes DESC",
    )
    const [{ merges }] = await query("SELECT count() AS merges FROM system.merges WHERE database = 'homeground'")
    const now = JSON.stringify(tables)
    if (now !== last || merges !== '0') since = Date.now()
    last = now
    if (Date.now() - since > 150_000) return tables
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

async function query(sql) {
  const { url, user, password } = readEngineAddress(path.join(folder, 'engine'))
  const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password }
  const response = await fetch(`${url}/?output_format_json_quote_64bit_integers=1`, { method: 'POST', headers, body: `${sql} FORMAT JSON` })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text).data
}
