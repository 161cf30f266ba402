// What replay controls of the system, and what happens to each; the list is this file. Installed once a worker thread: code in a rollout's scope gets the rollout's, all other code the system's own.
//
// Date(), new Date(), Date.now, performance.now      the rollout's clock
// setTimeout, setInterval, setTimeout of node:timers/promises      the rollout's timers (setImmediate and nextTick stay: they tell no time)
// Math.random, crypto.randomUUID, getRandomValues,
//   node:crypto randomUUID, randomBytes, randomInt, randomFillSync      the rollout's seed
// fetch, sockets, datagrams                           network-guard.ts
// child processes, worker threads, process.kill       process-guard.ts
// Not controlled: process.hrtime, performance.timeOrigin, threads started while the product is loaded, local pipes, AbortSignal.timeout, setInterval and scheduler.wait
// of node:timers/promises, Intl's own notion of now.
import type crypto from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { guardNetwork } from './network-guard.ts'
import { guardProcesses } from './process-guard.ts'
import { type RolloutScope, rolloutScope } from './scope.ts'
import { installTimers } from './timers.ts'

const builtin = createRequire(import.meta.url)

/** Once; a second call does nothing. */
export function installVirtualGlobals(): void {
  if (Reflect.get(globalThis, installed) === true) return
  Reflect.set(globalThis, installed, true)
  installDate()
  installRandom()
  installTimers()
  guardNetwork()
  guardProcesses()
  syncBuiltinESMExports()
}

const installed = Symbol.for('@homeground/virtual-globals')

function inScope<T>(own: (scope: RolloutScope) => T, system: () => T): T {
  const scope = rolloutScope.getStore()
  return scope === undefined ? system() : own(scope)
}

function installDate(): void {
  const RealDate = globalThis.Date
  const realNow = RealDate.now
  RealDate.now = () => inScope(({ clock }) => clock.now(), realNow)
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, self),
    apply: () => new RealDate(RealDate.now()).toString(),
  })
  const realPerformanceNow = performance.now.bind(performance)
  Object.defineProperty(performance, 'now', {
    configurable: true,
    writable: true,
    value: () => inScope(({ clock }) => clock.elapsedMs(), realPerformanceNow),
  })
}

function installRandom(): void {
  const realRandom = Math.random
  Math.random = () => inScope(({ random }) => random(), realRandom)

  // The module's own exports object: named imports are synchronised from it.
  const node: typeof crypto = builtin('node:crypto')
  const web = globalThis.crypto
  const real = {
    randomUUID: node.randomUUID,
    randomBytes: node.randomBytes,
    randomInt: node.randomInt,
    randomFillSync: node.randomFillSync,
    getRandomValues: web.getRandomValues.bind(web),
    webRandomUUID: web.randomUUID.bind(web),
  }
  define(node, 'randomUUID', (...given: unknown[]) => inScope(seededUuid, () => Reflect.apply(real.randomUUID, node, given)))
  define(node, 'randomBytes', (size: number, done?: (error: null, bytes: Buffer) => void) =>
    inScope(
      (scope) => {
        const bytes = fill(Buffer.alloc(size), scope)
        if (done === undefined) return bytes
        queueMicrotask(() => done(null, bytes))
        return undefined
      },
      () => Reflect.apply(real.randomBytes, node, done === undefined ? [size] : [size, done]),
    ),
  )
  define(node, 'randomInt', (...given: unknown[]) =>
    inScope(
      ({ random }) => {
        const numbers = given.filter((value) => typeof value === 'number')
        const [min, max] = numbers.length > 1 ? [numbers[0] ?? 0, numbers[1] ?? 0] : [0, numbers[0] ?? 0]
        const value = min + Math.floor(random() * (max - min))
        const done = given.at(-1)
        if (typeof done !== 'function') return value
        queueMicrotask(() => done(null, value))
        return undefined
      },
      () => Reflect.apply(real.randomInt, node, given),
    ),
  )
  define(node, 'randomFillSync', (buffer: ArrayBufferView, ...rest: unknown[]) =>
    inScope(
      (scope) => fill(buffer, scope),
      () => Reflect.apply(real.randomFillSync, node, [buffer, ...rest]),
    ),
  )
  define(web, 'getRandomValues', (array: Uint8Array<ArrayBuffer>) =>
    inScope(
      (scope) => fill(array, scope),
      () => real.getRandomValues(array),
    ),
  )
  define(web, 'randomUUID', () => inScope(seededUuid, real.webRandomUUID))
}

function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { configurable: true, writable: true, enumerable: true, value })
}

function fill<View extends ArrayBufferView>(view: View, { random }: RolloutScope): View {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = Math.floor(random() * 256)
  return view
}

function seededUuid(scope: RolloutScope): string {
  const bytes = fill(Buffer.alloc(16), scope)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
