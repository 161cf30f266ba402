import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { HomegroundError, normaliseSpan } from '@homeground/sdk/trace'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDeadLetters, openKafkaQueue } from '../../collector/queue/kafka/index.ts'
import { openStore } from '../../store/index.ts'
import { memoryLog } from '../support/collector.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { kafkaIsMissing, useKafka } from '../support/kafka.ts'
import { kafkaOptionsFor, lagOf, memoryStore, metricOf } from '../support/kafka-queue.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'
import { until } from '../support/until.ts'

describe.skipIf(engineIsMissing)('homeground erase', { timeout: 180_000 }, () => {
  const engine = useEngine()
  beforeAll(async () => {
    if (engineIsMissing) return
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans([spanRow({ project: 'p', traceId: traceId(1), user: 'ann' })])
    await store.registerEnvironment({
      project: 'p',
      name: 'desk',
      hash: 'h'.repeat(64),
      folder: '/envs/desk',
      builtAt: '2025-12-02T00:00:00.000Z',
      traces: [traceId(1)],
    })
    await store.close()
  })

  test('says what would go, does it with --yes, and names the environment that still holds it', async () => {
    const run = (...args: string[]) => homegroundCommand(['erase', '--project', 'p', '--folder', engine.folder, ...args])
    const look = await run('--user', 'ann')
    expect(look.stdout).toContain('would erase: 1 traces, 1 spans, 0 feedback')
    expect(look.stdout).toContain('nothing was erased')
    const done = await run('--user', 'ann', '--yes')
    expect(done.stdout).toContain('erased: 1 traces, 1 spans')
    expect(done.stdout).toContain('still held by environment desk (hhhhhhhhhhhh) in /envs/desk')
    const again = await run('--user', 'ann', '--session', 's')
    expect(again.code).toBe(2)
  })

  test('finds somebody by name whom the product records under a pseudonym, and under both where it redacts only since lately', async () => {
    const exporter = new MemoryExporter()
    for (const redact of [[], ['phone', 'email']] as const) {
      const hg = homeground({ project: 'shop', exporter, redact, redactKey: 'secret' })
      hg.session({ user: 'ann@example.com', id: 'visit of +1 415 555 0134' }, () => hg.agent('desk', () => 'hi')())
      await hg.shutdown()
    }
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans(exporter.spans.map(normaliseSpan))
    await store.close()
    const erase = (key: string, ...args: string[]) =>
      homegroundCommand(['erase', '--project', 'shop', '--folder', engine.folder, ...args], { HOMEGROUND_REDACT_KEY: key })
    const other = await erase('another', '--user', 'ann@example.com')
    expect(other.stdout).toContain('would erase: 1 traces')
    expect((await erase('secret', '--session', 'visit of +1 415 555 0134')).stdout).toMatch(/is recorded as visit of <phone:.*\n.*2 traces/)
    const done = await erase('secret', '--user', 'ann@example.com', '--yes')
    expect(done.stdout).toMatch(/^ann@example\.com is recorded as <email:[0-9a-f]{8}>\nerased: 2 traces, 2 spans/)
    expect((await erase('secret', '--user', 'ann@example.com')).stdout).toMatch(
      /^nothing is held of ann@example\.com\. .*HOMEGROUND_REDACT_KEY/,
    )
  })
})

describe.skipIf(engineIsMissing || kafkaIsMissing)('homeground erase with dead letters', { timeout: 180_000 }, () => {
  const engine = useEngine()
  const broker = useKafka()

  test('takes away what only a dead letter says is theirs, and what the store has of the same trace; not what is another project’s', async () => {
    const store = await openStore({ folder: engine.folder, environment: {} })
    await store.insertSpans([
      spanRow({ project: 'p', traceId: traceId(1), spanId: spanId(1), user: 'ann' }),
      spanRow({ project: 'p', traceId: traceId(2), spanId: spanId(1) }),
      spanRow({ project: 'p', traceId: traceId(5), spanId: spanId(1), session: 's5' }),
    ])
    const kafka = kafkaOptionsFor(broker.address, broker.name('rows'))
    const refusing = memoryStore(async () => {
      throw new HomegroundError('internal', 'the row is bad', { hint: 'x' })
    })
    const queue = await openKafkaQueue({ kafka, log: memoryLog(), store: refusing })
    const letters = [
      { project: 'p', traceId: traceId(1) },
      { project: 'p', traceId: traceId(2), user: 'ann' },
      { project: 'p', traceId: traceId(3), user: 'ann' },
      { project: 'p', traceId: traceId(3) },
      { project: 'p', traceId: traceId(4), user: 'anna', requestBody: '{"user":"ann"}' },
      { project: 'other', traceId: traceId(6), user: 'ann' },
      { project: 'p', traceId: traceId(7), session: 's7' },
    ]
    try {
      for (const [n, row] of letters.entries()) await queue.publishSpans([spanRow({ spanId: spanId(20 + n), ...row })], 1)
      await until(
        async () => (await metricOf(queue, 'homeground_ingest_dead_letters_total')) === letters.length && (await lagOf(queue)) === 0,
        () => 'the letters are not there',
        60_000,
      )
    } finally {
      await queue.close()
    }
    const env = { HOMEGROUND_KAFKA_BROKERS: broker.address, HOMEGROUND_KAFKA_TOPIC: kafka.topic, HOMEGROUND_KAFKA_GROUP: kafka.group }
    const erase = async (...args: string[]) => {
      const { code, stdout, stderr } = await homegroundCommand(
        ['--json', 'erase', '--project', 'p', '--folder', engine.folder, ...args],
        env,
      )
      expect([code, stderr]).toEqual([0, ''])
      return JSON.parse(stdout)
    }
    const counts = { spans: 2, feedback: 0, deadLetters: 4 }
    expect(await erase('--user', 'ann')).toMatchObject({ ...counts, erased: false })
    expect(await erase('--user', 'ann', '--yes')).toMatchObject({ ...counts, erased: true })
    expect(await erase('--session', 's7', '--yes')).toMatchObject({ spans: 0, deadLetters: 1 })
    expect(await erase('--trace', traceId(4), '--yes')).toMatchObject({ spans: 0, deadLetters: 1 })
    expect(await erase('--session', 's5', '--yes')).toMatchObject({ spans: 1, deadLetters: 0 })
    expect(await store.spans('p', [1, 2, 3, 4, 5].map(traceId))).toEqual([])
    await store.close()
    const box = await openDeadLetters(kafka, memoryLog())
    expect((await box.list()).map(({ trace }) => trace)).toEqual([traceId(6)])
    await box.close()
  })
})
