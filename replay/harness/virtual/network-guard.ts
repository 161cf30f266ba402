// Keeps a rollout off the network: what the product reads from elsewhere must be on the tape. A connection that is not allowed fails, and names what must be wrapped.
import { createRequire } from 'node:module'
import type net from 'node:net'
import { HomegroundError } from '@homeground/sdk/trace'
import { type RolloutScope, rolloutScope } from './scope.ts'

const builtin = createRequire(import.meta.url)

/** Replaces `fetch` (whose pooled connections open no socket) and the one place where every TCP and TLS connection begins. */
export function guardNetwork(): void {
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

function isAllowed(scope: RolloutScope, host: string, hostWithPort: string): boolean {
  return scope.allowNetwork.includes(host) || scope.allowNetwork.includes(hostWithPort)
}

function refuse(scope: RolloutScope, target: string): HomegroundError {
  scope.blocked(target)
  return unwrappedNetwork(target)
}

export function unwrappedNetwork(target: string): HomegroundError {
  return new HomegroundError('unwrapped-network', `in a replay the product tried to reach ${target}`, {
    hint: "wrap that read with hg.io(name, fn), make it a tool with hg.tool, or allow the host in env.json's harness (allowNetwork)",
  })
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
