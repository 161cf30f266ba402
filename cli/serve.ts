// What `up` and `collector` share: a collector on a store, its log, and an end that loses nothing.
import { pino } from 'pino'
import {
  type Collector,
  collectorSettings,
  directQueue,
  kafkaOptions,
  keyFile,
  type Log,
  openKafkaQueue,
  openKeyRing,
  startCollector,
} from '../collector/index.ts'
import { readPrices } from '../replay/rubric/index.ts'
import { openStore, readSettings, type Store } from '../store/index.ts'

export interface Serving {
  collector: Collector
  log: Log
  /** Resolves when SIGTERM or SIGINT has come and everything taken is durable. @returns false where requests were cut off by the deadline */
  ended: Promise<boolean>
}

/**
 * Opens the store (but for the role receive, which needs none) and the queue, listens, and goes down in order: no new requests, the ones under way finished,
 * the queue emptied, the store closed, the engine ended if nobody else uses it.
 */
export async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<Serving> {
  const settings = readSettings(collectorSettings, environment)
  const kafka = kafkaOptions(settings)
  const role = settings.HOMEGROUND_ROLE
  const log = pino({ level: settings.HOMEGROUND_LOG_LEVEL, base: null }, pino.destination({ fd: 2, sync: true }))
  // Before the engine starts: what cannot be read leaves nothing running.
  const prices = pricesOf(environment)
  const store = role === 'receive' ? undefined : await openStore({ environment })
  let collector: Collector
  try {
    await store?.setPrices(prices)
    const queue =
      kafka === undefined ? directQueue(needed(store)) : await openKafkaQueue({ kafka, log, ...(store === undefined ? {} : { store }) })
    try {
      collector = await startCollector({
        queue,
        log,
        accepts: role !== 'ingest',
        // A process that only ingests answers for itself alone.
        ...(role === 'ingest' ? {} : { store }),
        keys: openKeyRing(keyFile(settings), { log }),
        requestsPerSecond: settings.HOMEGROUND_REQUESTS_PER_SECOND,
        host: settings.HOMEGROUND_HOST,
        port: settings.HOMEGROUND_PORT,
        maxBodyBytes: settings.HOMEGROUND_MAX_BODY_BYTES,
        maxBytesInFlight: settings.HOMEGROUND_MAX_BYTES_IN_FLIGHT,
      })
    } catch (error) {
      await queue.close()
      throw error
    }
  } catch (error) {
    await store?.close({ stop: true })
    throw error
  }
  const ended = signalled().then(async (signal) => {
    log.info({ signal }, 'going down')
    const inTime = await collector.close(settings.HOMEGROUND_DRAIN_SECONDS * 1000)
    await store?.close({ stop: true })
    log.info({ inTime }, 'down')
    return inTime
  })
  return { collector, log, ended }
}

function pricesOf(environment: Readonly<Record<string, string | undefined>>): Parameters<Store['setPrices']>[0] {
  return Object.entries(readPrices(environment['HOMEGROUND_PRICES'])).map(
    ([model, { input, output, cacheRead = input, cacheWrite = input, asOf = '' }]) => ({
      model,
      input,
      output,
      cacheRead,
      cacheWrite,
      asOf,
    }),
  )
}

/** `kafkaOptions` refuses a role without a store where there is no Kafka. */
function needed(store: Store | undefined): Store {
  if (store === undefined) throw new Error('a collector without Kafka has a store')
  return store
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })
}
