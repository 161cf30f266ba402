// One ClickHouse connection: sends statements, gives rows, says in our errors what went wrong, and brings the embedded engine back when it has died.
import { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { errorText, HomegroundError } from '@homeground/sdk/trace'
import { type ClusterPlace, clusterSettings } from './cluster.ts'
import { saysFull } from './disk-room.ts'
import type { Engine } from './embedded/index.ts'

/** Where the statements go: a server's address, or an embedded engine whose address may change. */
export type Target = { kind: 'server'; url: string; user: string; password: string } | { kind: 'embedded'; engine: Engine }

export interface Connection {
  /** Set where the tables lie on a cluster. */
  readonly place?: ClusterPlace
  /** The rows of a select. Parameters are bound by the server, never put into the text. */
  rows(sql: string, parameters?: Record<string, unknown>): Promise<unknown[]>
  /** As `rows`, a few at a time. */
  stream(sql: string, parameters?: Record<string, unknown>): AsyncIterable<unknown>
  /** An `INSERT … FORMAT RowBinary` and its bytes. Resolves when the rows are written. Sent twice where the engine died in between: our tables forgive it. */
  insert(statement: string, bytes: Buffer): Promise<void>
  command(sql: string, parameters?: Record<string, unknown>): Promise<void>
  ping(): Promise<boolean>
  close(): Promise<void>
}

export interface ConnectOptions {
  database: string
  /** The cluster's name, where the servers are one. */
  cluster?: string
  /** @default 60000 */
  requestTimeoutMs?: number
}

/** @throws HomegroundError from every method: store-unavailable (retryable where waiting may help), disk-full (retryable), internal for a statement that is wrong */
export function connect(target: Target, options: ConnectOptions): Connection {
  let client = open(target, options)
  let isClosed = false

  /** Runs a statement; where the embedded engine has gone, starts it and runs it again. All our statements may run twice. */
  async function attempt<T>(run: (client: ClickHouseClient) => Promise<T>): Promise<T> {
    const used = client
    try {
      return await run(used)
    } catch (error) {
      if (target.kind === 'server' || isClosed || !isDisconnect(error)) throw translated(error, target)
      const before = target.engine.address()
      const now = await target.engine.revive()
      if (client === used && (now.url !== before.url || now.password !== before.password)) {
        client = open(target, options)
        void used.close().catch(() => {})
      }
      try {
        return await run(client)
      } catch (again) {
        throw translated(again, target)
      }
    }
  }

  const select = (sql: string, parameters: Record<string, unknown> | undefined) =>
    attempt((to) => to.query({ query: sql, format: 'JSONEachRow', ...(parameters === undefined ? {} : { query_params: parameters }) }))

  return {
    ...(options.cluster === undefined ? {} : { place: { cluster: options.cluster, database: options.database } }),
    rows: async (sql, parameters) => {
      const result = await select(sql, parameters)
      try {
        return await result.json()
      } catch (error) {
        throw translated(error, target)
      }
    },
    async *stream(sql, parameters) {
      const result = await select(sql, parameters)
      try {
        for await (const rows of result.stream()) for (const row of rows) yield row.json()
      } catch (error) {
        throw translated(error, target)
      }
    },
    insert: (statement, bytes) =>
      attempt(async (to) => {
        const { stream } = await to.exec({ query: statement, values: Readable.from([bytes], { objectMode: false }) })
        stream.resume()
        await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject))
      }),
    command: async (sql, parameters) => {
      await attempt((to) => to.command({ query: sql, ...(parameters === undefined ? {} : { query_params: parameters }) }))
    },
    ping: async () => (await client.ping()).success,
    close: async () => {
      isClosed = true
      await client.close()
    },
  }
}

function open(target: Target, { database, cluster, requestTimeoutMs = 60_000 }: ConnectOptions): ClickHouseClient {
  const address = target.kind === 'server' ? target : target.engine.address()
  return createClient({
    url: address.url,
    username: address.user,
    password: address.password,
    database,
    application: 'homeground',
    // Its log would show statements' parameters; failures are ours to tell.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: requestTimeoutMs,
    max_open_connections: 16,
    use_multipart_params_auto: true,
    compression: { request: false, response: !isLoopback(address.url) },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      // Partitions are bounded by their expression; a block of many months is no reason to refuse it.
      max_partitions_per_insert_block: '0',
      allow_experimental_codecs: 1,
      ...(cluster === undefined ? {} : clusterSettings),
    },
  })
}

function isLoopback(url: string): boolean {
  return /^https?:\/\/(127\.|localhost[:/]|\[::1\])/.test(`${url}/`)
}

function isDisconnect(error: unknown): boolean {
  if (error instanceof ClickHouseError) return false
  const text = error instanceof Error ? `${'code' in error ? error.code : ''} ${error.message}` : ''
  return /ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|socket hang up|other side closed|Timeout error/i.test(
    text,
  )
}

/** ClickHouse's own words for: try again later. */
const passing = new Set([
  'TOO_MANY_PARTS',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'MEMORY_LIMIT_EXCEEDED',
  'TIMEOUT_EXCEEDED',
  'NETWORK_ERROR',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'KEEPER_EXCEPTION',
  'QUERY_WAS_CANCELLED',
  'ABORTED',
  'CANNOT_WRITE_TO_FILE_DESCRIPTOR',
  'CANNOT_FSYNC',
])

function translated(error: unknown, target: Target): HomegroundError {
  if (HomegroundError.is(error)) return error
  const message = errorText(error)
  if (error instanceof ClickHouseError) {
    const type = error.type ?? error.code
    if (type === 'NOT_ENOUGH_SPACE' || saysFull(message)) {
      const place = target.kind === 'server' ? 'the ClickHouse server' : target.engine.folder
      return new HomegroundError('disk-full', `no room is left on the disk of ${place}: ${type}: ${firstLine(message)}`, {
        hint: 'free some space there, then give the same command again: a row that is sent twice is stored once',
        cause: error,
        retryable: true,
      })
    }
    if (passing.has(type)) {
      return new HomegroundError('store-unavailable', `ClickHouse cannot take it now: ${type}: ${firstLine(message)}`, {
        hint: 'the rows are not lost where the sender tries again; look at memory and the number of parts of the ClickHouse server',
        cause: error,
        retryable: true,
      })
    }
    if (type === 'AUTHENTICATION_FAILED' || type === 'REQUIRED_PASSWORD') {
      return new HomegroundError('store-unavailable', 'ClickHouse does not accept the user name and password', {
        hint: 'check HOMEGROUND_CLICKHOUSE_USER and HOMEGROUND_CLICKHOUSE_PASSWORD',
        cause: error,
      })
    }
    return new HomegroundError('internal', `ClickHouse refused a statement: ${type}: ${firstLine(message)}`, {
      hint: 'this is a fault of Homeground, or the tables were changed by hand; please report it',
      cause: error,
    })
  }
  return new HomegroundError('store-unavailable', `ClickHouse does not answer: ${firstLine(message)}`, {
    hint: 'check HOMEGROUND_CLICKHOUSE_URL and that the server runs; `homeground doctor` looks for you',
    cause: error,
    retryable: true,
  })
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 500) ?? ''
}
