// The calls that gave one object, which end with the product's use of it. It holds no reference to the object, whose end it may have to tell.
import type { Outcome } from './outcome.ts'

/** So many calls wait for the use of one object; the next one ends at once: a product may give the same lazy object for ever. */
const mostWaiting = 100

/** A method of the product's, and what stands before it. */
export type Method = (...given: unknown[]) => unknown
export type Hook = [key: string | symbol, method: Method]

export class Watch {
  private waiting: Outcome[] = []
  private soFar: () => unknown = () => undefined
  private readonly first: Outcome
  /** Watches the use of a value that this one's use has given. */
  readonly watchUse: (value: unknown, outcome: Outcome) => void

  constructor(first: Outcome, watchUse: (value: unknown, outcome: Outcome) => void) {
    this.first = first
    this.watchUse = watchUse
  }

  /** Whether no call waits for it any more. */
  get over(): boolean {
    return this.waiting.length === 0
  }

  add(outcome: Outcome): void {
    if (this.waiting.length >= mostWaiting) outcome.left()
    else {
      this.waiting.push(outcome)
      outcome.handed(this.soFar)
    }
  }

  /** Runs what the product does with it in the first call's context; what that throws is the calls' failure. */
  run<T>(part: () => T): T {
    try {
      return this.first.enter(part)
    } catch (error) {
      this.failed(error)
      throw error
    }
  }

  used(soFar: () => unknown): void {
    this.soFar = soFar
    for (const outcome of this.waiting) outcome.handed(soFar)
  }

  done(value: unknown): void {
    for (const outcome of this.take()) outcome.done(value)
  }

  /** A promise has given this, which may be a stream that is used in its turn. */
  settled(value: unknown): void {
    for (const outcome of this.take()) this.watchUse(value, outcome)
  }

  failed(error: unknown): void {
    for (const outcome of this.take()) outcome.failed(error)
  }

  left(): void {
    for (const outcome of this.take()) outcome.left(this.soFar())
  }

  private take(): Outcome[] {
    return this.waiting.splice(0)
  }
}

const unused = new FinalizationRegistry<Watch>((watch) => watch.left())

/** Where the product drops it, its calls have ended. Who may still settle it holds our callbacks, and they hold the object. */
export function leaveWhenDropped(value: object, watch: Watch): void {
  unused.register(value, watch)
}

/** Methods of the object's own, before those of its class. False where the first of them cannot stand: in a frozen object. */
export function hook(value: object, hooks: readonly Hook[]): boolean {
  return hooks.every(([key, method], index) => define(value, key, method) || index > 0)
}

function define(value: object, key: string | symbol, method: Method): boolean {
  try {
    const enumerable = Object.getOwnPropertyDescriptor(value, key)?.enumerable ?? false
    return Reflect.defineProperty(value, key, { value: method, configurable: true, writable: true, enumerable })
  } catch {
    return false
  }
}

/** The value's method of this name, however it has it. */
export function methodOf(value: object, key: string | symbol): Method | undefined {
  const method: unknown = Reflect.get(value, key)
  return isMethod(method) ? method : undefined
}

function isMethod(value: unknown): value is Method {
  return typeof value === 'function'
}
