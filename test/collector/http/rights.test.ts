// Every path of the collector with every kind of key, while another project has rows of the same trace and names: which status, and whose rows.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, createKey, openKeyRing, revokeKey } from '../../../collector/index.ts'
import type { Store } from '../../../store/index.ts'
import { collectorOn, memoryLog } from '../../support/collector.ts'
import { engineIsMissing, useEngine } from '../../support/engine.ts'
import { protobufTraces } from '../../support/otlp.ts'
import { spanId, traceId } from '../../support/span-rows.ts'
import { alike, insertTwoProjects, secret } from '../../support/two-projects.ts'

const holders = ['nobody', 'wrong', 'revoked', 'ingest shop', 'read bank', 'read shop', 'both shop', 'read *', 'both *'] as const
type Holder = (typeof holders)[number]

/** What is asked, and the status for each holder in the order of `holders`. */
const requests: [ask: string, statuses: readonly number[]][] = [
  ['GET /healthz', [200, 200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /readyz', [200, 200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /metrics', [401, 401, 401, 403, 200, 200, 200, 200, 200]],
  ['GET /', [404, 404, 404, 404, 404, 404, 404, 404, 404]],
  ['GET /v1/traces', [405, 405, 405, 405, 405, 405, 405, 405, 405]],
  ['GET /v1/episodes', [401, 401, 401, 403, 200, 200, 200, 400, 400]],
  ['GET /v1/episodes?project=shop', [401, 401, 401, 403, 403, 200, 200, 200, 200]],
  ['GET /V1/Episodes/?project=shop', [401, 401, 401, 403, 403, 200, 200, 200, 200]],
  ['HEAD /v1/episodes?project=shop', [401, 401, 401, 403, 403, 200, 200, 200, 200]],
  ['GET /v1/episodes?project=bank', [401, 401, 401, 403, 200, 403, 403, 200, 200]],
  ['GET /v1/episodes?project=shop&project=bank', [401, 401, 401, 403, 200, 403, 403, 200, 200]],
  ['GET /v1/episodes?project=bank&project=shop', [401, 401, 401, 403, 403, 200, 200, 200, 200]],
  ['GET /v1/episodes?project=*', [401, 401, 401, 403, 403, 403, 403, 200, 200]],
  ['GET /v1/episodes?project=', [401, 401, 401, 403, 400, 400, 400, 400, 400]],
  ['GET /v1/episodes?project[]=bank', [401, 401, 401, 403, 400, 400, 400, 400, 400]],
  ["GET /v1/episodes?project=shop' OR project='bank", [401, 401, 401, 403, 403, 403, 403, 200, 200]],
  ["GET /v1/episodes?project=shop&session=' OR 1=1 --", [401, 401, 401, 403, 403, 200, 200, 200, 200]],
  ...Object.entries({ ...alike, 'tags.plan': 'pro', 'feedback.thumb': 'true', limit: '1', from: '2025-12-01', to: '2025-12-03' }).map(
    ([name, value]): [string, number[]] => [
      `GET /v1/episodes?project=shop&${name}=${value}`,
      [401, 401, 401, 403, 403, 200, 200, 200, 200],
    ],
  ),
  ['POST /v1/episodes', [404, 404, 404, 404, 404, 404, 404, 404, 404]],
  ['POST /v1/traces', [401, 401, 401, 200, 403, 403, 200, 403, 200]],
  ['POST /v1/logs', [401, 401, 401, 200, 403, 403, 200, 403, 200]],
  ['POST /v1/feedback', [401, 401, 401, 200, 403, 403, 200, 403, 200]],
  ['POST /v1/feedback bank', [401, 401, 401, 403, 403, 403, 403, 403, 200]],
]

/** Whose rows each may see. */
const mayRead: Partial<Record<Holder, readonly string[]>> = {
  'read bank': ['bank'],
  'read shop': ['shop'],
  'both shop': ['shop'],
  'read *': ['shop', 'bank'],
  'both *': ['shop', 'bank'],
}

describe.skipIf(engineIsMissing)('the collector', { timeout: 120_000 }, () => {
  const engine = useEngine()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-rights-'))
  let collector: Collector
  let store: Store
  let keys: Record<Holder, string | undefined>
  beforeAll(async () => {
    if (engineIsMissing) return
    store = await engine.openStore()
    await insertTwoProjects(store)
    const file = path.join(folder, 'keys.json')
    const make = (project: string, ...rights: ('ingest' | 'read')[]) => createKey(file, { name: 'x', project, rights })
    const revoked = make('*', 'ingest', 'read')
    const shop = make('shop', 'ingest', 'read').text
    keys = {
      nobody: undefined,
      wrong: `${shop.slice(0, -1)}${shop.endsWith('A') ? 'E' : 'A'}`,
      revoked: revoked.text,
      'ingest shop': make('shop', 'ingest').text,
      'read bank': make('bank', 'read').text,
      'read shop': make('shop', 'read').text,
      'both shop': shop,
      'read *': make('*', 'read').text,
      'both *': make('*', 'ingest', 'read').text,
    }
    revokeKey(file, revoked.key.id)
    collector = await collectorOn(store, { keys: openKeyRing(file, { log: memoryLog() }), store })
  })
  afterAll(async () => {
    await collector?.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  async function ask(what: string, holder: Holder): Promise<{ status: number; text: string; challenge: string | null }> {
    const [, method = '', target = '', of = 'shop'] = /^(\w+) (\S+(?:.*[=&?].*)?)(?: (bank))?$/.exec(what) ?? []
    const key = keys[holder]
    const body: Record<string, { type: string; body: Uint8Array | string }> = {
      '/v1/traces': { type: 'application/x-protobuf', body: protobufTraces([{ traceId: traceId(9), spanId: spanId(9) }], {}) },
      '/v1/logs': { type: 'application/json', body: '{"resourceLogs":[]}' },
      '/v1/feedback': {
        type: 'application/json',
        body: JSON.stringify({ project: of, traceId: traceId(9), name: 'thumb', value: 1 }),
      },
    }
    const response = await fetch(new URL(target, collector.url), {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(method === 'POST' ? { 'content-type': body[target]?.type ?? 'application/json' } : {}),
      },
      ...(method === 'POST' ? { body: new Uint8Array(Buffer.from(body[target]?.body ?? '{}')) } : {}),
    })
    return { status: response.status, text: await response.text(), challenge: response.headers.get('www-authenticate') }
  }

  test.each(requests)(
    'answers %s to each key as it should, and shows nobody a row of a project that is not theirs',
    async (what, expected) => {
      const answers = await Promise.all(holders.map(async (holder) => ({ holder, ...(await ask(what, holder)) })))
      expect(answers.map(({ holder, status }) => [holder, status])).toEqual(holders.map((holder, n) => [holder, expected[n]]))
      for (const { holder, text, status, challenge } of answers) {
        const own = mayRead[holder] ?? []
        if (!own.includes('bank')) expect(text, holder).not.toContain(secret)
        if (status === 200 && what.startsWith('GET /v1/episodes'))
          for (const project of projectsOf(text)) expect(own, holder).toContain(project)
        expect(challenge, holder).toBe(status === 401 ? 'Bearer' : null)
        expect(text, holder).not.toContain(keys[holder] ?? 'no key')
      }
    },
  )

  test('shows the holder of a key their own rows', async () => {
    expect(projectsOf((await ask('GET /v1/episodes?user=ann', 'read shop')).text)).toEqual(['shop'])
    expect(projectsOf((await ask('GET /v1/episodes?user=ann', 'read bank')).text)).toEqual(['bank', 'bank'])
    expect(projectsOf((await ask('GET /v1/episodes?user=ann&project=bank', 'read *')).text)).toEqual(['bank', 'bank'])
  })

  test('takes a key in the header alone: one in the address would stand in logs', async () => {
    const response = await fetch(`${collector.url}/v1/episodes?project=shop&key=${keys['read shop']}`)
    expect(response.status).toBe(401)
  })
})

/** Of each episode in an answer. */
function projectsOf(jsonLines: string): string[] {
  return jsonLines
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { project: string }).project)
}
