import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openMessageChannel } from '../../../../collector/queue/kafka/message-channel.ts'
import { memoryLog } from '../../../support/collector.ts'
import { kafkaIsMissing, useKafka } from '../../../support/kafka.ts'
import { kafkaOptionsFor } from '../../../support/kafka-queue.ts'
import { until } from '../../../support/until.ts'

describe.skipIf(kafkaIsMissing)('a message channel', { timeout: 120_000 }, () => {
  const broker = useKafka()
  const open = (topic: string) =>
    openMessageChannel({ kafka: kafkaOptionsFor(broker.address, topic), log: memoryLog(), topics: [{ topic, numPartitions: 2 }] })

  test('carries values larger than a message, to the partition that was named', async () => {
    const topic = broker.name('large')
    const channel = await open(topic)
    const large = randomBytes(3_000_000)
    const seen: Buffer[] = []
    const receiver = await channel.receive({
      topic,
      group: `${topic}.g`,
      from: 'beginning',
      handle: async (value) => {
        seen.push(value)
      },
    })
    try {
      await channel.send(topic, { key: 'k', value: Buffer.from('small'), partition: 1 })
      await channel.send(topic, { key: 'k', value: large, partition: 1 })
      await until(
        () => seen.length === 2,
        () => `${seen.length} values`,
        60_000,
      )
      expect([seen[0]?.toString(), seen[1]?.equals(large)]).toEqual(['small', true])
      expect([await channel.partitions(topic), await channel.members(`${topic}.g`), await channel.members(`${topic}.nobody`)]).toEqual([
        2, 1, 0,
      ])
    } finally {
      await receiver.close()
      await channel.close()
    }
  })

  test('gives again what was not acknowledged, and to a group that begins at the end only what comes', async () => {
    const topic = broker.name('again')
    const channel = await open(topic)
    await channel.send(topic, { key: 'k', value: Buffer.from('before'), partition: 0 })
    const at = { topic, group: `${topic}.g`, from: 'end' as const }
    const first: string[] = []
    // Its signal comes before it is done: nothing is acknowledged.
    const leaving = await channel.receive({
      ...at,
      handle: async (value, signal) => {
        first.push(value.toString())
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      },
    })
    await channel.send(topic, { key: 'k', value: Buffer.from('after'), partition: 0 })
    await until(
      () => first.length === 1,
      () => 'nothing came',
      60_000,
    )
    await leaving.close()
    const second: string[] = []
    const taking = await channel.receive({
      ...at,
      handle: async (value) => {
        second.push(value.toString())
      },
    })
    await until(
      () => second.length === 1,
      () => 'nothing came again',
      60_000,
    )
    expect([first, second]).toEqual([['after'], ['after']])
    await taking.close()
    await channel.close()
  })
})
