// A product that was killed while its collector was away, and an erasure of one of its users: what the store alone, or the spool alone, knows of a trace holds in both.
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openStore, type Store } from '../../store/index.ts'
import { collectorOn } from '../support/collector.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'
import { spoolingProduct } from '../support/spooling-product.ts'
import { until } from '../support/until.ts'

describe.skipIf(engineIsMissing)('homeground erase --spool', { timeout: 180_000 }, () => {
  const engine = useEngine()
  const spool = path.join(engine.folder, 'spool')
  let store: Store
  beforeAll(async () => {
    if (!engineIsMissing) store = await openStore({ folder: engine.folder, environment: {} })
    return async () => await store?.close()
  })
  const erase = async (...args: string[]) => {
    const { code, stdout, stderr } = await homegroundCommand(['--json', 'erase', '--folder', engine.folder, ...args])
    return { code, stderr, found: code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : undefined }
  }
  const texts = () => fs.readdirSync(spool).map((name) => fs.readFileSync(path.join(spool, name), 'latin1'))

  test('takes a user out of store and spool, refuses while the product runs, and the others arrive', async () => {
    const running = spoolingProduct(spool, 'http://127.0.0.1:9', ['ann', 'bob', 'cleo'])
    const [ann = '', bob = '', cleo = ''] = await running.traces
    const busy = await erase('--project', 'p', '--user', 'ann', '--yes', '--spool', spool)
    expect([busy.code, busy.stderr]).toEqual([2, expect.stringContaining('spool-in-use')])
    await running.kill()
    const other = spoolingProduct(path.join(engine.folder, 'other'), 'http://127.0.0.1:9', ['ann'], 'q')
    await other.traces
    await other.kill()

    // Of ann's trace the store has a span that does not say so; that a trace of the store's is hers too the spool does not know.
    await store.insertSpans([
      spanRow({ project: 'p', traceId: ann, spanId: spanId(1) }),
      spanRow({ project: 'p', traceId: cleo, spanId: spanId(2), user: 'ann' }),
      spanRow({ project: 'p', traceId: bob, spanId: spanId(3) }),
      spanRow({ project: 'q', traceId: ann, spanId: spanId(4), user: 'ann' }),
    ])
    const before = texts()
    const spools = ['--spool', spool, path.join(engine.folder, 'other')]
    const counts = { spans: 2, feedback: 0, deadLetters: 0, spooled: 4, unreadable: [] }
    const look = await erase('--project', 'p', '--user', 'ann', ...spools)
    expect(look.found).toMatchObject({ ...counts, erased: false })
    expect(Array.from((look.found?.['traces'] ?? []) as string[]).sort()).toEqual([ann, cleo].sort())
    expect(texts()).toEqual(before)
    expect((await erase('--project', 'p', '--user', 'ann', '--yes', ...spools)).found).toMatchObject({ ...counts, erased: true })
    for (const text of texts()) {
      expect(text).not.toContain('a question of ann')
      expect(text).not.toContain('a question of cleo')
    }
    expect((await store.spans('p', [ann, cleo])).length).toBe(0)
    expect((await store.spans('q', [ann])).length).toBe(1)

    const collector = await collectorOn(store)
    const later = spoolingProduct(spool, collector.url, [])
    await until(
      async () => (await store.spans('p', [bob])).length === 3,
      () => 'the others did not arrive',
      60_000,
    )
    await later.kill()
    await collector.close()
    expect((await store.spans('p', [ann, cleo])).length).toBe(0)
    const left = fs
      .readdirSync(path.join(engine.folder, 'other'))
      .map((name) => fs.readFileSync(path.join(engine.folder, 'other', name), 'latin1'))
    expect(left.join('')).toContain('a question of ann')
  })

  test('takes one trace, or one session, that only the spool has', async () => {
    const killed = spoolingProduct(spool, 'http://127.0.0.1:9', ['dora', 'emil', 'finn'])
    const [dora = ''] = await killed.traces
    await killed.kill()
    expect((await erase('--project', 'p', '--trace', dora.toUpperCase(), '--yes', '--spool', spool)).found).toMatchObject({ spooled: 2 })
    expect((await erase('--project', 'p', '--session', 's-emil', '--yes', '--spool', spool)).found).toMatchObject({
      traces: [],
      spooled: 2,
    })
    expect((await erase('--project', 'p', '--session', 's-emil', '--yes', '--spool', spool)).found).toMatchObject({ spooled: 0 })
    expect(texts().join('')).toContain('a question of finn')
    expect(texts().join('')).not.toMatch(/a question of (dora|emil)/)
  })

  test('names a file that it cannot read, and a folder that is not there', async () => {
    const odd = path.join(engine.folder, 'odd')
    fs.mkdirSync(odd)
    fs.writeFileSync(path.join(odd, 'spans-0123abcd-1-m1-1.spool'), 'HGSPOOL')
    fs.utimesSync(path.join(odd, 'spans-0123abcd-1-m1-1.spool'), 0, 0)
    const run = (...args: string[]) =>
      homegroundCommand(['erase', '--project', 'p', '--folder', engine.folder, '--trace', traceId(1), ...args])
    const { stdout } = await run('--spool', odd, '--yes')
    expect(stdout).toContain('erased: 0 traces, 0 spans, 0 feedback, 0 spans in spools\n')
    expect(stdout).toContain('spans-0123abcd-1-m1-1.spool is not readable as a file of a spool and was left as it is')
    expect(fs.readFileSync(path.join(odd, 'spans-0123abcd-1-m1-1.spool'), 'utf8')).toBe('HGSPOOL')
    const missing = await run('--spool', path.join(odd, 'none'))
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('there is no spool')])
    const file = await run('--spool', path.join(odd, 'spans-0123abcd-1-m1-1.spool'))
    expect([file.code, file.stderr]).toEqual([2, expect.stringContaining('invalid-argument')])
  })
})
