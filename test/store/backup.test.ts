import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isWholeArchive } from '../../store/backup-archive.ts'
import { backupStore, openStore, restoreStore } from '../../store/index.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { filesUnder } from '../support/files-under.ts'
import { spanRow, traceId } from '../support/span-rows.ts'

describe.skipIf(engineIsMissing)('a backup of the embedded store', { timeout: 180_000 }, () => {
  const engine = useEngine()
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-backup-'))
  afterAll(() => fs.rmSync(place, { recursive: true, force: true }))
  const database = 'homeground'
  const rows = (count: number) => Array.from({ length: count }, (_, n) => spanRow({ traceId: traceId(n + 1) }))

  test('is taken while rows come in, and put back holds every row of before', async () => {
    const store = await openStore({ folder: engine.folder, database, environment: {} })
    await store.insertSpans(rows(500))
    await store.insertFeedback([
      {
        project: 'shop',
        traceId: traceId(1),
        stepId: '',
        name: 'thumb',
        value: true,
        comment: '',
        source: 'user',
        at: '2025-12-01T15:00:00.000Z',
      },
    ])
    let isDone = false
    const busy = (async () => {
      for (let n = 0; !isDone; n++) await store.insertSpans([spanRow({ project: 'later', traceId: traceId(n + 1) })])
    })()
    const file = path.join(place, 'store.tar')
    const made = await backupStore(file, { folder: engine.folder, database })
    isDone = true
    await busy
    expect(made).toEqual({ file, bytes: fs.statSync(file).size })

    const folder = path.join(place, 'restored')
    await restoreStore(file, { folder, database })
    const restored = await openStore({ folder, database, environment: {}, lingerMs: 0 })
    const [shop] = await restored.counts('shop')
    expect(shop).toEqual((await store.counts('shop'))[0])
    expect(shop?.modelCalls).toBe(500)
    expect((await restored.feedback('shop', [traceId(1)])).map(({ value }) => value)).toEqual([true])
    // It is a store like any other: views and materialized views live on.
    await restored.insertSpans([spanRow({ project: 'new', traceId: traceId(7) })])
    expect((await restored.traces({ project: 'new' })).map(({ trace }) => trace)).toEqual([traceId(7)])
    await restored.close({ stop: true })

    await expect(restoreStore(file, { folder, database })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(backupStore(file, { folder: engine.folder, database })).rejects.toMatchObject({ code: 'invalid-argument' })
    await store.close()
  })

  test('that is none, or of a newer Homeground, is refused with the reason and leaves nothing behind', async () => {
    const folder = path.join(place, 'fresh')
    const broken = path.join(place, 'broken.tar')
    const whole = fs.readFileSync(path.join(place, 'store.tar'))
    expect(isWholeArchive(path.join(place, 'store.tar'))).toBe(true)
    // A disk that was full, or a copy that was broken off, ends anywhere.
    const cuts = [0, 1, 511, 512, 513, Math.floor(whole.length / 2), whole.length - 20_480, Math.floor(whole.length / 2 / 512) * 512]
    for (const cut of [Buffer.from('no archive'), Buffer.alloc(2_048), ...cuts.map((end) => whole.subarray(0, end))]) {
      fs.writeFileSync(broken, cut)
      expect(isWholeArchive(broken)).toBe(false)
      await expect(restoreStore(broken, { folder, database })).rejects.toMatchObject({ code: 'invalid-input' })
    }
    await expect(restoreStore(path.join(place, 'none.tar'), { folder, database })).rejects.toMatchObject({ code: 'not-found' })
    await expect(backupStore(path.join(place, 'x.tar'), { folder, database })).rejects.toMatchObject({ code: 'not-found' })

    await engine.openStore('newer')
    await engine.sql("INSERT INTO schema_migrations (version, name) VALUES (9999, 'from the future')", 'newer')
    const file = path.join(place, 'newer.tar')
    await backupStore(file, { folder: engine.folder, database: 'newer' })
    await expect(restoreStore(file, { folder, database: 'newer' })).rejects.toMatchObject({ code: 'store-newer' })
    expect(filesUnder(folder)).toEqual({})
  })
})
