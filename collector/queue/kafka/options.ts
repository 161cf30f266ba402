// What the settings mean once they have been looked at together: which brokers, with which credentials, which topics.
import fs from 'node:fs'
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import type { KafkaSettings } from './settings.ts'

export interface KafkaOptions {
  brokers: string[]
  topic: string
  deadTopic: string
  group: string
  /** Of topics that have to be made. Replication is at most the number of brokers where it was not given. */
  partitions: number
  replication: number | undefined
  compression: KafkaSettings['HOMEGROUND_KAFKA_COMPRESSION']
  maxMessageBytes: number
  sessionTimeoutMs: number
  publishDeadlineMs: number
  partsDeadlineMs: number
  tls: { ca?: string; cert?: string; key?: string } | undefined
  sasl: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string } | undefined
}

/**
 * Undefined where no broker is named. Reads the files that hold certificates.
 * @throws HomegroundError invalid-settings, with every fault at once
 */
export function kafkaOptions(settings: KafkaSettings): KafkaOptions | undefined {
  const faults: string[] = []
  const brokers = settings.HOMEGROUND_KAFKA_BROKERS
  if (brokers === undefined && settings.HOMEGROUND_ROLE !== 'all')
    faults.push(`HOMEGROUND_ROLE: ${settings.HOMEGROUND_ROLE} needs HOMEGROUND_KAFKA_BROKERS`)
  const sasl = saslOf(settings, faults)
  const tls = tlsOf(settings, faults)
  if (faults.length > 0) {
    throw new HomegroundError('invalid-settings', `settings cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, {
      hint: 'set the variables named above; `homeground collector --help` lists them all with their meaning',
    })
  }
  if (brokers === undefined) return undefined
  return {
    brokers,
    topic: settings.HOMEGROUND_KAFKA_TOPIC,
    deadTopic: `${settings.HOMEGROUND_KAFKA_TOPIC}.dead`,
    group: settings.HOMEGROUND_KAFKA_GROUP,
    partitions: settings.HOMEGROUND_KAFKA_PARTITIONS,
    replication: settings.HOMEGROUND_KAFKA_REPLICATION,
    compression: settings.HOMEGROUND_KAFKA_COMPRESSION,
    maxMessageBytes: settings.HOMEGROUND_KAFKA_MAX_MESSAGE_BYTES,
    sessionTimeoutMs: settings.HOMEGROUND_KAFKA_SESSION_SECONDS * 1000,
    publishDeadlineMs: settings.HOMEGROUND_KAFKA_PUBLISH_SECONDS * 1000,
    partsDeadlineMs: settings.HOMEGROUND_KAFKA_PARTS_SECONDS * 1000,
    tls,
    sasl,
  }
}

function saslOf(settings: KafkaSettings, faults: string[]): KafkaOptions['sasl'] {
  const mechanism = settings.HOMEGROUND_KAFKA_SASL_MECHANISM
  const username = settings.HOMEGROUND_KAFKA_SASL_USER
  const password = settings.HOMEGROUND_KAFKA_SASL_PASSWORD
  if (mechanism === undefined && username === undefined && password === undefined) return undefined
  if (mechanism === undefined) faults.push('HOMEGROUND_KAFKA_SASL_MECHANISM: needed with a user name or password')
  if (username === undefined) faults.push('HOMEGROUND_KAFKA_SASL_USER: needed with HOMEGROUND_KAFKA_SASL_MECHANISM')
  if (password === undefined) faults.push('HOMEGROUND_KAFKA_SASL_PASSWORD: needed with HOMEGROUND_KAFKA_SASL_MECHANISM')
  return mechanism && username && password ? { mechanism, username, password } : undefined
}

function tlsOf(settings: KafkaSettings, faults: string[]): KafkaOptions['tls'] {
  const read = (name: 'HOMEGROUND_KAFKA_TLS_CA' | 'HOMEGROUND_KAFKA_TLS_CERT' | 'HOMEGROUND_KAFKA_TLS_KEY') => {
    const file = settings[name]
    if (file === undefined) return undefined
    if (!settings.HOMEGROUND_KAFKA_TLS) faults.push(`${name}: has no effect without HOMEGROUND_KAFKA_TLS=true`)
    try {
      return fs.readFileSync(file, 'utf8')
    } catch (error) {
      faults.push(`${name}: ${file} cannot be read: ${errorText(error)}`)
      return undefined
    }
  }
  const ca = read('HOMEGROUND_KAFKA_TLS_CA')
  const cert = read('HOMEGROUND_KAFKA_TLS_CERT')
  const key = read('HOMEGROUND_KAFKA_TLS_KEY')
  if ((cert === undefined) !== (key === undefined)) faults.push('HOMEGROUND_KAFKA_TLS_CERT, HOMEGROUND_KAFKA_TLS_KEY: one needs the other')
  if (!settings.HOMEGROUND_KAFKA_TLS) return undefined
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }
}
