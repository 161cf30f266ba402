// A running collector: listens, takes OTLP, answers when it is durable, and goes down without losing what it has taken.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { HomegroundError } from '@homeground/sdk/trace'
import type { Store } from '../store/index.ts'
import { createApp } from './http/app.ts'
import { ByteBudget } from './http/byte-budget.ts'
import { createGuard } from './http/guard.ts'
import type { Log } from './http/types.ts'
import { type KeyRing, noKeys } from './keys/key-ring.ts'
import type { Queue } from './queue/types.ts'

export interface CollectorOptions {
  queue: Queue
  log: Log
  /** Whether it takes spans and feedback, or only says how it is. @default true */
  accepts?: boolean
  /** Who may come in. @default nobody needs a key, and only this machine is listened to */
  keys?: KeyRing
  /** Of one key or address; 0 is no limit. @default 0 */
  requestsPerSecond?: number
  /** Answers GET /v1/episodes. */
  store?: Pick<Store, 'episodes'> | undefined
  /** @default 127.0.0.1 */
  host?: string
  /** 0: a free one. @default 4318 */
  port?: number
  /** @default 32 MiB */
  maxBodyBytes?: number
  /** @default 128 MiB */
  maxBytesInFlight?: number
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
}

export interface Collector {
  readonly url: string
  readonly host: string
  readonly port: number
  /** Takes nothing new, finishes what it has and closes the queue, within the deadline. @returns false where something was cut off */
  close(deadlineMs?: number): Promise<boolean>
}

/** @throws HomegroundError port-in-use, invalid-settings (an address beyond loopback, where there are no keys) */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const {
    queue,
    log,
    accepts = true,
    keys = noKeys,
    requestsPerSecond = 0,
    store,
    host = '127.0.0.1',
    port = 4318,
    maxBodyBytes = 32 * 1024 * 1024,
    maxBytesInFlight = 128 * 1024 * 1024,
    now = Date.now,
  } = options
  if (!isLoopback(host) && !keys.isOn()) {
    throw new HomegroundError('invalid-settings', `without keys the collector listens on loopback only, and ${host} is not`, {
      hint: 'make a key with `homeground keys create NAME --project PROJECT`, or set HOMEGROUND_HOST to 127.0.0.1',
    })
  }
  let draining = false
  const app = createApp({
    queue,
    log,
    accepts,
    store,
    guard: createGuard(keys, { requestsPerSecond }),
    now,
    maxBytes: maxBodyBytes,
    budget: new ByteBudget(maxBytesInFlight),
    isDraining: () => draining,
  })
  const server = http.createServer({ requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 }, app)
  await listen(server, host, port)
  const { port: actual } = server.address() as AddressInfo

  let closing: Promise<boolean> | undefined
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    host,
    port: actual,
    close: (deadlineMs = 20_000) => {
      draining = true
      closing ??= shutDown(server, queue, deadlineMs)
      return closing
    },
  }
}

async function shutDown(server: http.Server, queue: Queue, deadlineMs: number): Promise<boolean> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // Keep-alive connections become idle as their last answer goes out.
  const sweeper = setInterval(() => server.closeIdleConnections(), 50)
  // A store that does not answer holds what was given to it: nobody was told that it is there, and the deadline is for all.
  const inTime = await Promise.race([
    ended.then(() => queue.close()).then(() => true),
    new Promise<false>((resolve) => {
      setTimeout(() => resolve(false), deadlineMs).unref()
    }),
  ])
  clearInterval(sweeper)
  if (!inTime) server.closeAllConnections()
  return inTime
}

function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return reject(error)
      const what = error.code === 'EACCES' ? 'may not be used by this user' : 'belongs to another process'
      reject(
        new HomegroundError('port-in-use', `port ${port} on ${host} ${what}`, {
          hint: 'end that process, or choose another port with --port or HOMEGROUND_PORT',
          cause: error,
        }),
      )
    })
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

/** True where only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
