// A real Kafka broker for a test file, ended after the file. Skipped, with the reason, where Java or Maven are missing.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../../store/embedded/free-port.ts'
import { type Broker, brokerMissing, freePorts, startBroker } from './kafka-broker.ts'
import { missing } from './require.ts'

/** True where tests that need a broker are to be skipped: `describe.skipIf(kafkaIsMissing)`. */
export const kafkaIsMissing = missing('kafka', brokerMissing())

export interface TestBroker {
  /** `127.0.0.1:PORT`; it stays over `restart`. */
  readonly address: string
  /** A listener that asks for user `collector` and password `secret` (PLAIN). */
  readonly saslAddress: string
  /** A TLS listener, with the certificate of `certificateFile`. */
  readonly tlsAddress: string
  readonly certificateFile: string
  /** A topic's name of its own, or a group's. */
  name(word: string): string
  kill(): Promise<void>
  /** Starts it again on the same data, after `kill`. */
  restart(): Promise<void>
}

/** Call it at the top of a test file or in a describe block. One broker a file, a topic and a group a test. */
export function useKafka(): TestBroker {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-kafka-'))
  let broker: Broker | undefined
  let extra = { sasl: 0, tls: 0 }
  let start: (() => Promise<Broker>) | undefined
  beforeAll(async () => {
    if (kafkaIsMissing) return
    const ports = await freePorts()
    extra = { sasl: await freePort(), tls: await freePort() }
    const [sasl, tls] = [{ port: extra.sasl, user: 'collector', password: 'secret' }, { port: extra.tls }]
    start = () => startBroker({ folder, ports, sasl, tls })
    broker = await start()
  })
  afterAll(async () => {
    await broker?.kill()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const started = () => {
    if (broker === undefined) throw new Error('the broker has not been started')
    return broker
  }
  return {
    get address() {
      return started().address
    },
    get saslAddress() {
      return `127.0.0.1:${extra.sasl}`
    },
    get tlsAddress() {
      return `127.0.0.1:${extra.tls}`
    },
    get certificateFile() {
      return started().certificateFile
    },
    name: (word) => `${word}-${randomBytes(4).toString('hex')}`,
    kill: () => started().kill(),
    restart: async () => {
      broker = await start?.()
    },
  }
}
