// A product for worker threads: compiled as users' products are. It uses clock, dice and timers as anyone would; PLANTED names a fault.
import { execFile, execSync, fork, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import dgram from 'node:dgram'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import OpenAI from 'openai'

export const exporter = new MemoryExporter()
export const hg = homeground({ project: 'threaded', exporter })
const client = hg.wrap(new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', maxRetries: 0 }))
export const useModel = (url) => {
  client.baseURL = url
}

const look = hg.tool({
  name: 'look',
  description: 'Looks',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
  effect: 'read',
  execute: async ({ at }) => `seen ${at}`,
})

/** Each writes the file that STARTED names, unless it is stopped. */
const script = "require('node:fs').writeFileSync(process.env.STARTED, '')"
const starts = {
  spawn: () => new Promise((resolve, reject) => spawn(process.execPath, ['-e', script]).on('error', reject).on('exit', resolve)),
  promise: () => promisify(execFile)(process.execPath, ['-e', script]),
  fork: () => new Promise((resolve, reject) => fork(`--eval=${script}`).on('error', reject).on('exit', resolve)),
  shell: async () => execSync('touch "$STARTED"'),
  sync: async () => spawnSync(process.execPath, ['-e', script]),
  thread: () => new Promise((resolve, reject) => new Worker(script, { eval: true }).on('error', reject).on('exit', resolve)),
}

export const agent = hg.agent('threaded', async ({ ask }) => {
  const planted = process.env.PLANTED ?? ''
  const parts = [`Today is ${new Date().toISOString().slice(0, 10)}.`]
  if (planted.includes('clock'))
    parts.push(`Now ${new Date(performance.timeOrigin + Number(process.hrtime.bigint() / 1_000_000n)).toISOString()}.`)
  if (planted.includes('dice')) parts.push(`Ticket ${randomUUID()}, ${crypto.randomUUID()}, ${Math.random()}.`)
  if (planted.includes('sleep')) {
    const before = Date.now()
    await sleep(60_000)
    await new Promise((resolve) => setTimeout(resolve, 30_000))
    parts.push(`Slept ${Date.now() - before}.`)
  }
  if (planted.includes('race')) {
    const slow = new Promise((resolve) => setTimeout(() => resolve('slow'), 5_000))
    const fast = new Promise((resolve) => setTimeout(() => resolve('fast'), 1_000))
    parts.push(await Promise.race([slow, fast]))
  }
  if (planted.includes('fetch')) await fetch(`${process.env.ELSEWHERE}/profile`)
  if (planted.includes('embed')) await client.embeddings.create({ model: 'embedder', input: ask })
  if (planted.includes('http')) {
    await new Promise((resolve, reject) => http.get(`${process.env.ELSEWHERE}/profile`, resolve).on('error', reject))
  }
  if (planted.includes('socket')) {
    await new Promise((resolve, reject) =>
      net.connect(Number(new URL(process.env.ELSEWHERE).port), '127.0.0.1', resolve).on('error', reject),
    )
  }
  if (planted.includes('secure')) {
    await new Promise((resolve, reject) =>
      tls.connect(Number(new URL(process.env.ELSEWHERE).port), '127.0.0.1', resolve).on('error', reject),
    )
  }
  if (planted.includes('datagram')) {
    const socket = dgram.createSocket('udp4')
    const port = Number(new URL(process.env.ELSEWHERE).port)
    const sent = (...given) => new Promise((resolve, reject) => socket.send('x', ...given, (error) => (error ? reject(error) : resolve())))
    await sent(port, '127.0.0.1')
    await sent(0, 1, port, '127.0.0.1')
    await new Promise((resolve, reject) => socket.connect(port, '127.0.0.1', (error) => (error ? reject(error) : resolve())))
    await sent()
    socket.close()
  }
  for (const [name, start] of Object.entries(starts)) if (planted.includes(`start-${name}`)) await start()
  if (planted.includes('circle') && ask.includes('crash')) {
    const circle = {}
    circle.self = circle
    return circle
  }
  if (planted.includes('trap') && ask.includes('crash')) {
    const trap = () => {
      throw new Error('do not look')
    }
    throw new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap })
  }
  if (planted.includes('crash') && ask.includes('crash')) process.exit(3)
  if (planted.includes('kill') && ask.includes('crash')) process.kill(process.pid)
  if (planted.includes('group') && ask.includes('crash')) process.kill(0, 'SIGKILL')
  if (planted.includes('abort') && ask.includes('crash')) process.abort()
  if (planted.includes('forget')) fetch(`${process.env.ELSEWHERE}/log`).catch(() => {})
  if (planted.includes('stray') && ask.includes('crash')) setImmediate(() => Promise.reject(new RangeError('stray')))
  if (planted.includes('spin') && ask.includes('crash')) for (;;);
  if (planted.includes('print')) console.log('noise on stdout')
  const messages = [
    { role: 'system', content: parts.join(' ') },
    { role: 'user', content: ask },
  ]
  for (;;) {
    const completion = await client.chat.completions.create({ model: 'm', messages, tools: hg.toolDefinitions() })
    const message = completion.choices[0].message
    messages.push(message)
    if (!message.tool_calls?.length) return planted.includes('trace') ? { text: message.content, trace: hg.trace() } : message.content
    for (const call of message.tool_calls) messages.push({ role: 'tool', tool_call_id: call.id, content: (await look.call(call)).content })
  }
})
