// The kafkajs client as all our parts use it: credentials, codecs, the mended timer, its log in ours.
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import kafkajs, { type Kafka, type LogEntry } from 'kafkajs'
import type { Log } from '../../http/types.ts'
import { registerCodecs } from './codecs.ts'
import { mendRequestQueue } from './idle-request-queue.ts'
import type { KafkaOptions } from './options.ts'

/** Connects nowhere yet. `clientId`: what the brokers' logs call us. */
export function kafkaClient(options: KafkaOptions, log: Log, clientId = 'homeground'): Kafka {
  mendRequestQueue()
  registerCodecs()
  return new kafkajs.Kafka({
    clientId,
    brokers: options.brokers,
    connectionTimeout: 3_000,
    authenticationTimeout: 10_000,
    requestTimeout: 15_000,
    ...(options.tls === undefined ? {} : { ssl: tlsFor(options.tls) }),
    ...(options.sasl === undefined ? {} : { sasl: saslFor(options.sasl) }),
    // Outages are ours to wait for, where the deadline is known.
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => (entry) => write(entry, log),
  })
}

/** @throws HomegroundError queue-unavailable, retryable unless the broker said no for good */
export function queueUnavailable(error: unknown, what: string): HomegroundError {
  const message = errorText(error)
  return new HomegroundError('queue-unavailable', `Kafka ${what}: ${message.split('\n', 1)[0]}`, {
    hint: 'check HOMEGROUND_KAFKA_BROKERS, the credentials (HOMEGROUND_KAFKA_SASL_*, HOMEGROUND_KAFKA_TLS_*) and that the brokers run',
    cause: error,
    retryable: !isFinal(error),
  })
}

/** Kafka's own names of failures that no waiting mends. */
export function isFinal(error: unknown): boolean {
  return [error, ...causes(error)].some((one) => {
    const type = typeof one === 'object' && one !== null && 'type' in one ? String(one.type) : ''
    const name = one instanceof Error ? one.name : ''
    return (
      /AUTHORIZATION_FAILED|^INVALID_TOPIC|^INVALID_REQUIRED_ACKS|^UNSUPPORTED|^INVALID_RECORD|SASL_AUTH/.test(type) ||
      name === 'KafkaJSSASLAuthenticationError'
    )
  })
}

/** A message, or a batch of them, is larger than the topic or the broker takes. kafkajs says so at once. */
export function isTooLarge(error: unknown): boolean {
  return [error, ...causes(error)].some(
    (one) =>
      typeof one === 'object' && one !== null && 'type' in one && /^(MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/.test(String(one.type)),
  )
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = []
  for (let at = error; at instanceof Error && at.cause !== undefined && found.length < 10; at = at.cause) found.push(at.cause)
  return found
}

function tlsFor({ ca, cert, key }: NonNullable<KafkaOptions['tls']>) {
  return { ...(ca === undefined ? {} : { ca: [ca] }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }
}

function saslFor({ mechanism, username, password }: NonNullable<KafkaOptions['sasl']>) {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password }
    case 'scram-sha-256':
      return { mechanism, username, password }
    case 'scram-sha-512':
      return { mechanism, username, password }
  }
}

/** kafkajs calls much of what it mends itself an error: for us it is a warning. Stacks and payloads stay out. */
function write({ namespace, log: { message, error, groupId, retryCount } }: LogEntry, log: Log): void {
  log.warn({ namespace, message, error, groupId, retryCount }, 'kafka client')
}
