// A ClickHouse that cannot keep up, has too many parts, or is gone: rows wait within bounds or are refused with a status that says so, and none that was answered with 200 is lost.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type EngineAddress, openStore, readEngineAddress, type Store, startEngine } from '../../store/index.ts'
import { collectorOn } from '../support/collector.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { postTraces, protobufTraces } from '../support/otlp.ts'
import { spanId, traceId } from '../support/span-rows.ts'
import { until } from '../support/until.ts'

describe.skipIf(engineIsMissing)('back-pressure', { timeout: 120_000 }, () => {
  const engine = useEngine()
  let store: Store
  beforeAll(async () => {
    if (!engineIsMissing) store = await engine.openStore('pressure')
  })
  const addressOf = (folder: string): EngineAddress => {
    const address = readEngineAddress(folder)
    if (address === undefined) throw new Error('the engine does not run')
    return address
  }
  const body = (n: number, bytes = 100) =>
    protobufTraces([{ traceId: traceId(n), spanId: spanId(n), attributes: { 'gen_ai.operation.name': 'chat', noise: 'x'.repeat(bytes) } }])

  test('too many parts: 503 with Retry-After and not ready, and rows are taken again once there are fewer', async () => {
    await engine.sql('SYSTEM STOP MERGES spans', 'pressure')
    await engine.sql('ALTER TABLE spans MODIFY SETTING parts_to_delay_insert = 0, parts_to_throw_insert = 4', 'pressure')
    const collector = await collectorOn(store)
    try {
      const taken: number[] = []
      let refused: Awaited<ReturnType<typeof postTraces>> | undefined
      for (let n = 1; n <= 20 && refused === undefined; n++) {
        const answer = await postTraces(collector.url, body(n))
        if (answer.status === 200) taken.push(n)
        else refused = answer
      }
      expect(refused).toMatchObject({ status: 503, retryAfter: '2' })
      expect(taken.length).toBeGreaterThan(2)
      expect((await fetch(`${collector.url}/readyz`)).status).toBe(503)

      await engine.sql('SYSTEM START MERGES spans', 'pressure')
      await engine.sql('OPTIMIZE TABLE spans FINAL', 'pressure')
      expect((await postTraces(collector.url, body(100))).status).toBe(200)
      expect((await fetch(`${collector.url}/readyz`)).status).toBe(200)
      const rows = await store.spans('shop', [...taken, 100].map(traceId))
      expect(rows.map((row) => row.traceId).sort()).toEqual([...taken, 100].map(traceId).sort())
    } finally {
      await collector.close()
    }
  })

  test('a ClickHouse that stands still: as many bytes wait as may, the next get 429, and what waited is stored when it goes on', async () => {
    const collector = await collectorOn(store, { maxBytesInFlight: 450_000 })
    const { pid } = addressOf(`${engine.folder}/engine`)
    process.kill(pid, 'SIGSTOP')
    let isStopped = true
    const goOn = () => {
      if (isStopped) process.kill(pid, 'SIGCONT')
      isStopped = false
    }
    try {
      const waiting = [201, 202, 203, 204].map((n) => postTraces(collector.url, body(n, 100_000)))
      await until(
        async () => /homeground_bytes_in_flight 4\d{5}\n/.test(await (await fetch(`${collector.url}/metrics`)).text()),
        () => 'four requests are not held',
      )
      expect(await postTraces(collector.url, body(205, 100_000))).toMatchObject({ status: 429, retryAfter: '1' })
      goOn()
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect((await store.spans('shop', [201, 202, 203, 204, 205].map(traceId))).map((row) => row.traceId)).toEqual(
        [201, 202, 203, 204].map(traceId),
      )
    } finally {
      goOn()
      await collector.close()
    }
  })

  test('a ClickHouse server that is gone: 503 with Retry-After at once, and not ready', async () => {
    const folder = `${engine.folder}/gone`
    const other = await startEngine({ folder, lingerMs: 0 })
    const { url, user, password, pid } = other.address()
    const environment = { HOMEGROUND_CLICKHOUSE_URL: url, HOMEGROUND_CLICKHOUSE_USER: user, HOMEGROUND_CLICKHOUSE_PASSWORD: password }
    onTestFinished(() => other.close())
    const server = await openStore({ environment })
    const collector = await collectorOn(server)
    try {
      expect((await postTraces(collector.url, body(301))).status).toBe(200)
      process.kill(pid, 'SIGKILL')
      const begun = performance.now()
      expect(await postTraces(collector.url, body(302))).toMatchObject({ status: 503, retryAfter: '2' })
      expect(performance.now() - begun).toBeLessThan(20_000)
      expect((await fetch(`${collector.url}/readyz`)).status).toBe(503)
    } finally {
      await collector.close()
      await server.close()
    }
  })
})
