import { describe, expect, test } from 'vitest'
import { freePort } from '../../store/embedded/free-port.ts'
import { homegroundCommand } from '../support/command.ts'
import { engineIsMissing } from '../support/engine.ts'
import { kafkaIsMissing, useKafka } from '../support/kafka.ts'

describe.skipIf(engineIsMissing || kafkaIsMissing)('homeground doctor', { timeout: 120_000 }, () => {
  const broker = useKafka()

  test('says of Kafka whether the brokers answer that are set, and nothing where none is', async () => {
    const about = async (settings: Record<string, string>) => {
      const { code, stdout } = await homegroundCommand(['doctor', '--json'], settings)
      const findings = JSON.parse(stdout) as { part: string; state: string; says: string; mend?: string }[]
      return { code, kafka: findings.filter(({ part }) => part === 'Kafka') }
    }
    expect(await about({})).toEqual({ code: 0, kafka: [] })
    expect(await about({ HOMEGROUND_KAFKA_BROKERS: broker.address })).toEqual({
      code: 0,
      kafka: [{ part: 'Kafka', state: 'ok', needed: true, says: `the brokers at ${broker.address} answer` }],
    })
    expect(await about({ HOMEGROUND_KAFKA_BROKERS: `127.0.0.1:${await freePort()}` })).toMatchObject({
      code: 1,
      kafka: [
        { state: 'missing', says: expect.stringContaining('ECONNREFUSED'), mend: expect.stringContaining('HOMEGROUND_KAFKA_BROKERS') },
      ],
    })
    expect(await about({ HOMEGROUND_KAFKA_BROKERS: broker.address, HOMEGROUND_KAFKA_SASL_USER: 'x' })).toMatchObject({
      code: 1,
      kafka: [{ state: 'missing', says: expect.stringContaining('HOMEGROUND_KAFKA_SASL_PASSWORD') }],
    })
  })
})
