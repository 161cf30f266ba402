// setTimeout, setInterval and the setTimeout of node:timers/promises, on the rollout's clock where one is in scope.
import { createRequire } from 'node:module'
import { type RolloutScope, rolloutScope } from './scope.ts'
import type { VirtualClock, VirtualTimer } from './virtual-clock.ts'

const builtin = createRequire(import.meta.url)

/** What setTimeout gives in a rollout: all that Node's Timeout can be asked. */
class RolloutTimeout {
  readonly #clock: VirtualClock
  readonly #timer: VirtualTimer
  readonly #delayMs: number

  constructor(clock: VirtualClock, timer: VirtualTimer, delayMs: number) {
    this.#clock = clock
    this.#timer = timer
    this.#delayMs = delayMs
  }

  ref(): this {
    this.#timer.referenced = true
    return this
  }
  unref(): this {
    this.#timer.referenced = false
    return this
  }
  hasRef(): boolean {
    return this.#timer.referenced
  }
  refresh(): this {
    this.#clock.refresh(this.#timer, this.#delayMs)
    return this
  }
  close(): this {
    this.#clock.clear(this.#timer.id)
    return this
  }
  [Symbol.toPrimitive](): number {
    return -this.#timer.id
  }
  [Symbol.dispose ?? Symbol.for('dispose')](): void {
    this.close()
  }
}

export function installTimers(): void {
  const real = { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval, clear: globalThis.clearTimeout }
  const set = (repeat: boolean) =>
    function setTimer(run: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]): unknown {
      const scope = rolloutScope.getStore()
      if (scope === undefined) return Reflect.apply(repeat ? real.setInterval : real.setTimeout, globalThis, [run, delayMs, ...args])
      return start(scope, () => run(...args), delayMs ?? 1, repeat)
    }
  const clear = (timer: unknown): void => {
    const scope = rolloutScope.getStore()
    if (timer instanceof RolloutTimeout) timer.close()
    else if (typeof timer === 'number' && timer < 0 && scope !== undefined) scope.clock.clear(-timer)
    else Reflect.apply(real.clear, globalThis, [timer])
  }
  const [setTimeout, setInterval] = [set(false), set(true)]
  const replaced = { setTimeout, setInterval, clearTimeout: clear, clearInterval: clear }
  // promisify(setTimeout) finds its promise form here.
  const promisified = Symbol.for('nodejs.util.promisify.custom')
  const promises: Record<string, unknown> = builtin('node:timers/promises')
  const wait = waitOf(promises['setTimeout'])
  Object.defineProperty(setTimeout, promisified, { value: wait })
  Object.assign(globalThis, replaced)
  Object.assign(builtin('node:timers'), replaced)
  Object.assign(promises, { setTimeout: wait })
}

function start(scope: RolloutScope, run: () => void, delayMs: number, repeat: boolean): RolloutTimeout {
  return new RolloutTimeout(
    scope.clock,
    scope.clock.set(() => rolloutScope.run(scope, run), Number(delayMs), { repeat }),
    Number(delayMs),
  )
}

/** timers/promises.setTimeout */
function waitOf(real: unknown) {
  return function setTimeout(delayMs?: number, value?: unknown, options?: { signal?: AbortSignal }): unknown {
    const scope = rolloutScope.getStore()
    if (scope === undefined) return typeof real === 'function' ? Reflect.apply(real, undefined, [delayMs, value, options]) : undefined
    return new Promise((resolve, reject) => {
      const { signal } = options ?? {}
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const timer = start(scope, () => resolve(value), delayMs ?? 1, false)
      signal?.addEventListener(
        'abort',
        () => {
          timer.close()
          reject(signal.reason)
        },
        { once: true },
      )
    })
  }
}
