// Keeps a rollout off the network: what the product reads from elsewhere must be on the tape. A connection that is not allowed fails, and names what must be wrapped.
import type dgram from 'node:dgram'
import { createRequire } from 'node:module'
import type net from 'node:net'
import { HomegroundError } from '@homeground/sdk/trace'
import { type RolloutScope, rolloutScope } from './scope.ts'

const builtin = createRequire(import.meta.url)

/** Replaces `fetch` (whose pooled connections open no socket), the one place where every TCP and TLS connection begins, and those where a datagram leaves. */
export function guardNetwork(): void {
  guardStreams()
  guardDatagrams()
}

function guardStreams(): void {
  const realFetch = globalThis.fetch
  globalThis.fetch = function fetch(input, init) {
    const scope = rolloutScope.getStore()
    const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
    if (scope !== undefined && URL.canParse(url)) {
      const { host, hostname, protocol } = new URL(url)
      if (/^https?:$/.test(protocol) && !isAllowed(scope, hostname, host)) {
        return Promise.reject(refuse(scope, `${init?.method ?? (input instanceof Request ? input.method : 'GET')} ${url}`))
      }
    }
    return realFetch(input, init)
  }

  const { Socket }: typeof net = builtin('node:net')
  const realConnect = Socket.prototype.connect
  Socket.prototype.connect = function connect(this: net.Socket, ...given: unknown[]): net.Socket {
    const scope = rolloutScope.getStore()
    const target = scope === undefined ? undefined : targetOf(given)
    if (scope !== undefined && target !== undefined && !isAllowed(scope, target.host, `${target.host}:${target.port}`)) {
      const error = refuse(scope, `${target.host}:${target.port}`)
      process.nextTick(() => this.destroy(error))
      return this
    }
    return Reflect.apply(realConnect, this, given)
  }
}

function guardDatagrams(): void {
  const { Socket }: typeof dgram = builtin('node:dgram')
  for (const name of ['send', 'connect'] as const) {
    const real = Socket.prototype[name]
    const guarded = function (this: dgram.Socket, ...given: unknown[]): unknown {
      const scope = rolloutScope.getStore()
      const target = scope === undefined ? undefined : datagramTarget(this, name, given)
      if (scope === undefined || target === undefined || isAllowed(scope, target.host, `${target.host}:${target.port}`))
        return Reflect.apply(real, this, given)
      const error = refuse(scope, `${target.host}:${target.port} (UDP)`)
      const done = given.at(-1)
      process.nextTick(() => (typeof done === 'function' ? done(error) : this.emit('error', error)))
      return undefined
    }
    Reflect.set(Socket.prototype, name, guarded)
  }
}

/** connect(port, host), send(message, port, host), send(message, offset, length, port, host). What a connected socket sends goes where it was allowed to connect. */
function datagramTarget(
  socket: dgram.Socket,
  name: 'send' | 'connect',
  given: readonly unknown[],
): { host: string; port: string } | undefined {
  const numbers = (from: number, to: number) => given.slice(from, to).every((value) => typeof value === 'number')
  const at = name === 'connect' ? 0 : numbers(1, 4) && given.length > 3 ? 3 : 1
  const [port, host] = given.slice(at)
  if (name === 'send' && isConnected(socket)) return undefined
  return { host: typeof host === 'string' ? host : 'localhost', port: String(port) }
}

function isConnected(socket: dgram.Socket): boolean {
  try {
    return socket.remoteAddress().port > 0
  } catch {
    return false
  }
}

function isAllowed(scope: RolloutScope, host: string, hostWithPort: string): boolean {
  return scope.allowNetwork.includes(host) || scope.allowNetwork.includes(hostWithPort)
}

function refuse(scope: RolloutScope, target: string): HomegroundError {
  const reason = new HomegroundError('unwrapped-network', `in a replay the product tried to reach ${target}`, {
    hint: "wrap that read with hg.io(name, fn), make it a tool with hg.tool, or allow the host in env.json's harness (allowNetwork)",
  })
  scope.blocked(reason)
  return reason
}

/** The forms of net.connect: options, port and host, and Node's own normalised [options, callback]. A path is a local pipe: not the network. */
function targetOf(given: readonly unknown[]): { host: string; port: string } | undefined {
  const [first, second] = given
  if (Array.isArray(first)) return targetOf(first)
  if (typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first))) {
    return { host: typeof second === 'string' ? second : 'localhost', port: String(first) }
  }
  if (typeof first !== 'object' || first === null) return undefined
  const port: unknown = Reflect.get(first, 'port')
  const host: unknown = Reflect.get(first, 'host')
  return port === undefined || port === null ? undefined : { host: typeof host === 'string' ? host : 'localhost', port: String(port) }
}
