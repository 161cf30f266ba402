import { expect, test } from 'vitest'
import { kafkaOptions } from '../../../../collector/queue/kafka/options.ts'
import { kafkaSettings } from '../../../../collector/queue/kafka/settings.ts'

const read = (environment: Record<string, string>) => kafkaOptions(kafkaSettings.parse(environment))

test('without brokers there is no Kafka, unless the role needs it', () => {
  expect(read({})).toBeUndefined()
  for (const role of ['receive', 'ingest'])
    expect(() => read({ HOMEGROUND_ROLE: role })).toThrow(`HOMEGROUND_ROLE: ${role} needs HOMEGROUND_KAFKA_BROKERS`)
})

test('brokers are a list, and every one has a port', () => {
  expect(read({ HOMEGROUND_KAFKA_BROKERS: 'a:9092, b:9093' })).toMatchObject({
    brokers: ['a:9092', 'b:9093'],
    topic: 'homeground',
    deadTopic: 'homeground.dead',
    tls: undefined,
    sasl: undefined,
  })
  expect(() => read({ HOMEGROUND_KAFKA_BROKERS: 'a:9092,b' })).toThrow('host:port')
})

test('all faults of credentials are told at once', () => {
  const fault = () =>
    read({
      HOMEGROUND_KAFKA_BROKERS: 'a:1',
      HOMEGROUND_KAFKA_SASL_USER: 'u',
      HOMEGROUND_KAFKA_TLS_CA: '/no/such/file.pem',
    })
  for (const part of ['SASL_MECHANISM: needed', 'SASL_PASSWORD: needed', 'TLS_CA: has no effect', '/no/such/file.pem cannot be read'])
    expect(fault).toThrow(part)
})
