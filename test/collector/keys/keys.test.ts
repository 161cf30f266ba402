import { execFile } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type Collector,
  type CollectorOptions,
  createKey,
  openKeyRing,
  type Queue,
  readKeys,
  revokeKey,
  startCollector,
} from '../../../collector/index.ts'
import type { EpisodeQuery } from '../../../store/index.ts'
import { memoryLog } from '../../support/collector.ts'
import { homegroundCommand } from '../../support/command.ts'
import { postTraces, protobufTraces } from '../../support/otlp.ts'
import { spanId, traceId } from '../../support/span-rows.ts'

let folder = ''
let file = ''
const open: Collector[] = []
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-keys-'))
  file = path.join(folder, 'keys.json')
})
afterEach(async () => {
  for (const collector of open.splice(0)) await collector.close(1_000)
  fs.rmSync(folder, { recursive: true, force: true })
})

const log = memoryLog()
const rows: SpanRow[] = []
const feedback: FeedbackRow[] = []
const asked: EpisodeQuery[] = []
/** Milliseconds on the key ring's clock. */
let at = 0
const now = () => at
const queue: Queue = {
  publishSpans: async (given) => void rows.push(...given),
  publishFeedback: async (given) => void feedback.push(...given),
  ready: async () => true,
  close: async () => {},
}

async function start(options: Partial<CollectorOptions> = {}): Promise<string> {
  rows.length = 0
  feedback.length = 0
  asked.length = 0
  const store = {
    // biome-ignore lint/correctness/useYield: nothing is stored; only what was asked matters.
    async *episodes(query: EpisodeQuery) {
      asked.push(query)
    },
  }
  const collector = await startCollector({ queue, log, store, port: 0, keys: openKeyRing(file, { log, now }), ...options })
  open.push(collector)
  return collector.url
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const body = (resource: Record<string, string> = { 'service.name': 'svc' }) =>
  protobufTraces([{ traceId: traceId(1), spanId: spanId(1) }], resource)

test('without a key, with a wrong one and with a revoked one nothing is taken, and no answer or log line holds a key', async () => {
  const { text, key } = createKey(file, { name: 'a', project: 'shop', rights: ['ingest'] })
  const url = await start()
  const wrong = `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`
  for (const headers of [{}, bearer('hg_00000000_x'), bearer(wrong), { authorization: `Basic ${text}` }]) {
    const answer = await postTraces(url, body(), headers)
    expect(answer.status).toBe(401)
    expect(answer.body.toString()).not.toContain(text.slice(12))
  }
  expect((await postTraces(url, body(), bearer(text))).status).toBe(200)
  revokeKey(file, key.id)
  at += 1_000
  expect((await postTraces(url, body(), bearer(text))).status).toBe(401)
  expect(rows.length).toBe(1)
  expect(JSON.stringify(log.lines)).not.toContain(text.slice(12))
})

test('a key that is revoked stops on a connection that stays open too', async () => {
  const { text, key } = createKey(file, { name: 'a', project: 'shop', rights: ['read'] })
  const { hostname, port } = new URL(await start())
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const get = () =>
    new Promise((resolve, reject) => {
      const request = http.get({ hostname, port, path: '/v1/episodes', agent, headers: bearer(text) }, (response) => {
        response.resume().once('end', () => resolve([response.statusCode, request.reusedSocket]))
      })
      request.once('error', reject)
    })
  try {
    expect([await get(), await get()]).toEqual([
      [200, false],
      [200, true],
    ])
    revokeKey(file, key.id)
    at += 1_000
    expect(await get()).toEqual([401, true])
  } finally {
    agent.destroy()
  }
})

test('the file stays whose it is and as readable as it was: a collector of another user must learn of a revocation', () => {
  const { key } = createKey(file, { name: 'a', project: 'shop', rights: ['read'] })
  // Only root may give a file away.
  const owner = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0)
  fs.chownSync(file, owner, fs.statSync(file).gid)
  fs.chmodSync(file, 0o640)
  revokeKey(file, key.id)
  const { uid, mode } = fs.statSync(file)
  expect({ uid, mode: mode & 0o777, left: fs.readdirSync(folder) }).toEqual({ uid: owner, mode: 0o640, left: ['keys.json'] })
})

test('a file that cannot be read any more is told once, and read again as soon as it can be, also where only its rights have changed', () => {
  const { text, key } = createKey(file, { name: 'a', project: 'shop', rights: ['read'] })
  const said = memoryLog()
  const ring = openKeyRing(file, { log: said, now })
  const look = () => {
    at += 1_000
    return ring.find(text)?.id
  }
  revokeKey(file, key.id)
  const revoked = fs.readFileSync(file)
  const { mtime } = fs.statSync(file)
  fs.writeFileSync(file, '#'.repeat(revoked.length))
  fs.utimesSync(file, mtime, mtime)
  expect([look(), look()]).toEqual([key.id, key.id])
  fs.writeFileSync(file, revoked)
  fs.utimesSync(file, mtime, mtime)
  expect(look()).toBeUndefined()
  fs.rmSync(file)
  expect([look(), ring.isOn()]).toEqual([undefined, true])
  expect(said.lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'keys stay as they were known, revoked ones too, until their file can be read'],
    ['info', 'the key file is read again'],
    ['error', 'keys stay as they were known, revoked ones too, until their file can be read'],
  ])
})

test('the file holds hashes, is the owner’s alone, and never the key', () => {
  const { text, key } = createKey(file, { name: 'a', project: 'shop', rights: ['read'] })
  expect(fs.readFileSync(file, 'utf8')).not.toContain(text.slice(12))
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  expect(readKeys(file)).toEqual([key])
})

test('a key for one project makes rows of that project alone', async () => {
  const { text } = createKey(file, { name: 'a', project: 'shop', rights: ['ingest'] })
  const url = await start()
  expect((await postTraces(url, body(), bearer(text))).status).toBe(200)
  const other = await postTraces(url, body({ 'homeground.project': 'bank' }), bearer(text))
  expect(other.body.toString()).toContain('the key is for another project (1)')
  expect(rows.map(({ project }) => project)).toEqual(['shop'])
  const say = async (project: string) =>
    (
      await fetch(`${url}/v1/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(text) },
        body: JSON.stringify({ project, traceId: traceId(1), name: 'thumb', value: 1 }),
      })
    ).status
  expect([await say('shop'), await say('bank')]).toEqual([200, 403])
  expect(feedback.map(({ project }) => project)).toEqual(['shop'])
})

test('an evaluation is of the key’s project too: one that names another is refused, whether a log record or a span brings it', async () => {
  const { text } = createKey(file, { name: 'a', project: 'shop', rights: ['ingest'] })
  const url = await start()
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })
  const evaluation = { attributes: [attribute('gen_ai.evaluation.name', 'tone'), attribute('gen_ai.evaluation.score.label', 'kind')] }
  const ids = { traceId: traceId(1), spanId: spanId(1) }
  const resource = (project: string) => ({ resource: { attributes: [attribute('homeground.project', project)] } })
  const send = async (route: string, value: object) => {
    const headers = { 'content-type': 'application/json', ...bearer(text) }
    return await (await fetch(`${url}/v1/${route}`, { method: 'POST', headers, body: JSON.stringify(value) })).json()
  }
  const logRecords = [{ ...ids, eventName: 'gen_ai.evaluation.result', ...evaluation }]
  const logs = (project: string) => ({ resourceLogs: [{ ...resource(project), scopeLogs: [{ logRecords }] }] })
  const spans = [{ ...ids, startTimeUnixNano: '1', endTimeUnixNano: '2', events: [{ name: 'gen_ai.evaluation.result', ...evaluation }] }]
  const traces = (project: string) => ({ resourceSpans: [{ ...resource(project), scopeSpans: [{ spans }] }] })
  const errorMessage = '1 refused: the key is for another project (1)'
  expect(await send('logs', logs('bank'))).toEqual({ partialSuccess: { rejectedLogRecords: '1', errorMessage } })
  expect(await send('traces', traces('bank'))).toEqual({ partialSuccess: { rejectedSpans: '1', errorMessage } })
  expect([await send('logs', logs('shop')), await send('logs', logs('')), await send('traces', traces('shop'))]).toEqual([{}, {}, {}])
  expect(feedback.map(({ project, name }) => [project, name])).toEqual([
    ['shop', 'tone'],
    ['shop', 'tone'],
    ['shop', 'tone'],
  ])
  expect(rows.map(({ project }) => project)).toEqual(['shop'])
})

test('reading needs the right to read, and reads its own project alone', async () => {
  const writer = createKey(file, { name: 'w', project: 'shop', rights: ['ingest'] }).text
  const reader = createKey(file, { name: 'r', project: 'shop', rights: ['read'] }).text
  const all = createKey(file, { name: 'all', project: '*', rights: ['read'] }).text
  const url = await start()
  const get = async (query: string, text: string) => (await fetch(`${url}/v1/episodes${query}`, { headers: bearer(text) })).status
  expect(await get('', writer)).toBe(403)
  expect(await get('?project=bank', reader)).toBe(403)
  expect(await get('?project=bank&project=shop', reader)).toBe(200)
  expect(await get('', reader)).toBe(200)
  expect(await get('?project=bank&tags.plan=pro&limit=5', all)).toBe(200)
  expect(await get('', all)).toBe(400)
  expect(await get('?projects=shop', reader)).toBe(400)
  expect(asked).toEqual([{ project: 'shop' }, { project: 'shop' }, { project: 'bank', limit: 5, tags: { plan: 'pro' } }])
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  expect((await postTraces(url, body(), bearer(reader))).status).toBe(403)
})

test('without keys a request under another host name is refused: a web page may have bent its name to this machine', async () => {
  const url = await start()
  const status = await new Promise((resolve) => {
    http
      .request(`${url}/v1/episodes?project=shop`, { headers: { host: 'evil.example' } }, (response) =>
        resolve(response.resume().statusCode),
      )
      .end()
  })
  expect(status).toBe(403)
  expect((await fetch(`${url}/v1/episodes?project=shop`)).status).toBe(200)
})

test('with keys it may listen beyond loopback', async () => {
  createKey(file, { name: 'a', project: 'shop', rights: ['ingest'] })
  await expect(start({ host: '0.0.0.0' })).resolves.toContain('http://0.0.0.0:')
})

test('a client over its rate gets 429 with Retry-After', async () => {
  const url = await start({ requestsPerSecond: 3 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => postTraces(url, body())))
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(1)
  expect(answers.find(({ status }) => status === 429)?.retryAfter).toBe('1')
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(3)
})

test('a rate below one a second lets one through, and says when the next is', async () => {
  const url = await start({ requestsPerSecond: 0.01 })
  expect(await postTraces(url, body())).toMatchObject({ status: 200 })
  const refused = await postTraces(url, body())
  expect([refused.status, Number(refused.retryAfter) > 60]).toEqual([429, true])
})

test('a damaged key file is an error at the start, not an open door', () => {
  fs.writeFileSync(file, '{"keys":')
  expect(() => openKeyRing(file, { log })).toThrow(expect.objectContaining({ code: 'invalid-settings' }))
})

test('homeground keys creates, lists and revokes', async () => {
  const made = await homegroundCommand(['keys', 'create', 'checkout', '--project', 'shop', '--rights', 'ingest,read', '--folder', folder])
  expect(made.stdout).toMatch(/^hg_[0-9a-f]{8}_[\w-]{43}\n/)
  const [key] = readKeys(file)
  const list = await homegroundCommand(['keys', 'list', '--folder', folder])
  expect(list.stdout).toContain('checkout')
  expect(list.stdout).not.toContain(key?.hash ?? 'none')
  const revoked = await homegroundCommand(['keys', 'revoke', key?.id ?? '', '--folder', folder, '--json'])
  expect([revoked.code, JSON.parse(revoked.stdout)]).toEqual([0, { id: key?.id, revoked: true }])
  expect((await homegroundCommand(['keys', 'create', 'x', '--project', 'p', '--rights', 'own', '--folder', folder])).code).toBe(2)
}, 240_000)

test('keys that several processes make and revoke at one moment are all made, and stay revoked', async () => {
  const old = Array.from({ length: 4 }, (_, index) => createKey(file, { name: `old-${index}`, project: 'p', rights: ['read'] }).key.id)
  const module = new URL('../../../dist/collector/keys/key-file.js', import.meta.url).href
  const work = `
    const { createKey, revokeKey } = await import(process.argv[1])
    const [, , file, id] = process.argv
    for (let n = 0; n < 25; n += 1) createKey(file, { name: 'new', project: 'p', rights: ['ingest'] })
    revokeKey(file, id)
    for (let n = 0; n < 25; n += 1) createKey(file, { name: 'new', project: 'p', rights: ['ingest'] })
  `
  const run = promisify(execFile)
  await Promise.all(old.map((id) => run(process.execPath, ['--input-type=module', '--eval', work, module, file, id])))
  const keys = readKeys(file)
  expect({
    revoked: keys.filter(({ revokedAt }) => revokedAt !== undefined).map(({ id }) => id),
    made: keys.filter(({ name }) => name === 'new').length,
    left: fs.readdirSync(folder),
  }).toEqual({ revoked: old, made: 200, left: ['keys.json'] })
})
