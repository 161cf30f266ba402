// A disk that is really full: a small tmpfs holds the engine's folder.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openStore } from '../../store/index.ts'
import { collectorOn } from '../support/collector.ts'
import { engineIsMissing } from '../support/engine.ts'
import { postTraces, protobufTraces } from '../support/otlp.ts'
import { smallDisk, unmount } from '../support/small-disk.ts'
import { spanId, traceId } from '../support/span-rows.ts'

const disk = engineIsMissing ? undefined : smallDisk(64)

describe.skipIf(disk === undefined)('a full disk', { timeout: 180_000 }, () => {
  afterAll(() => {
    if (disk !== undefined) unmount(disk)
  })

  test('is answered with 503 and Retry-After; what was answered with 200 is there, and rows are taken again when there is room', async () => {
    if (disk === undefined) throw new Error('skipped without a disk')
    const filler = path.join(disk, 'filler')
    // Room that somebody else will have taken, and gives back.
    fs.writeFileSync(filler, randomBytes(24 * 1024 * 1024))
    const store = await openStore({ folder: disk, environment: {}, lingerMs: 0 })
    const collector = await collectorOn(store)
    const send = (n: number) => {
      // Random text, which no codec makes small.
      const attributes = { 'gen_ai.operation.name': 'chat', noise: randomBytes(1_500_000).toString('base64') }
      return postTraces(collector.url, protobufTraces([{ traceId: traceId(n), spanId: spanId(n), attributes }]))
    }
    try {
      const taken: number[] = []
      let refused: Awaited<ReturnType<typeof send>> | undefined
      for (let n = 1; n <= 60 && refused === undefined; n++) {
        const answer = await send(n)
        if (answer.status === 200) taken.push(n)
        else refused = answer
      }
      expect(refused).toMatchObject({ status: 503, retryAfter: '2' })
      expect(taken.length).toBeGreaterThan(0)
      expect((await fetch(`${collector.url}/readyz`)).status).toBe(503)

      fs.rmSync(filler)
      expect((await send(100)).status).toBe(200)
      const rows = await store.spans('shop', [...taken, 100].map(traceId))
      expect(rows.map((row) => row.traceId).sort()).toEqual([...taken, 100].map(traceId).sort())
    } finally {
      await collector.close()
      await store.close({ stop: true })
    }
  })
})
