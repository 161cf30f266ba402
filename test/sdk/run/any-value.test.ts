// Whatever an agent or a tool gives or throws, the recorded call is the bare one: the same object, used to the same end, the same error, no rejection that
// the bare call has not; and one span of it, closed.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import fc from 'fast-check'
import { Stream } from 'openai/streaming'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const failure = new RangeError('mine')
const fail = (): never => {
  throw failure
}
const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}
const withThen = (then: unknown): object => Object.fromEntries([['then', then]])
const traps = { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail, defineProperty: fail }

class Kind<T> extends Promise<T> {
  readonly kind = 'kind'
}
class Secret {
  readonly #value = 7
  reveal() {
    return this.#value
  }
}
class Rows {
  readonly #rows = ['a', 'b']
  async *[Symbol.asyncIterator]() {
    yield* this.#rows
    return 'all'
  }
}
class Query {
  readonly #rows = ['a']
  runs = 0
  run(...given: [(value: unknown) => unknown]) {
    this.runs += 1
    return Promise.resolve(this.#rows).then(...given)
  }
}
Object.defineProperty(Query.prototype, 'then', { value: Query.prototype.run })
class Steps {
  #left = 2
  next() {
    this.#left -= 1
    return { done: this.#left < 0, value: this.#left }
  }
  [Symbol.asyncIterator]() {
    return this
  }
}
async function* asyncParts() {
  yield 'a'
  yield { b: 1 }
  return 'all'
}
function* parts() {
  yield 'a'
  yield 'b'
}

/** Each is made anew for a call. */
const values: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  NaN: () => Number.NaN,
  bigint: () => 10n,
  symbol: () => Symbol.iterator,
  'a function': () => fail,
  'a plain object': () => ({ a: { b: [1] } }),
  'a frozen object': () => Object.freeze({ a: 1 }),
  'an object without a prototype': () => Object.create(null),
  'a getter that throws': () => Object.defineProperty({}, 'a', { get: fail, enumerable: true }),
  'a then that throws': () => Object.defineProperty({}, 'then', { get: fail }),
  'an object with private fields': () => new Secret(),
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of a function': () => revoked(() => undefined),
  'a proxy whose traps throw': () => new Proxy({}, traps),
  'a proxy of a generator': () => new Proxy(parts(), { get: (target, key) => Reflect.get(target, key).bind?.(target) ?? undefined }),
  'a proxy of a promise': () => new Proxy(Promise.resolve(1), { get: (target, key) => Reflect.get(target, key).bind?.(target) }),
  'a map, a set, a date, bytes': () => [new Map([[{}, 1]]), new Set([1]), new Date(0), new Uint8Array(3)],
  'an error': () => failure,
  'a response': () => new Response('body'),
  'a web stream': () => new Response('body').body,
  'a promise': async () => 1,
  'a frozen promise': () => Object.freeze(Promise.resolve(1)),
  'a promise with fields': () => Object.assign(Promise.resolve(1), { cancel: fail }),
  'a promise that rejects': () => Promise.reject(failure),
  'a promise of a generator': async () => asyncParts(),
  'a promise of a frozen generator': async () => Object.freeze(asyncParts()),
  'a promise of a revoked proxy': async () => [revoked({})],
  'a subclass’s promise': () => Kind.resolve(1),
  'a subclass’s promise that rejects': () => Kind.reject(failure),
  'a frozen subclass’s promise': () => Object.freeze(Kind.resolve(1)),
  'a subclass’s promise of an iterable': () => Kind.resolve(new Rows()),
  'a lazy query': () => new Query(),
  'a sealed lazy query': () => Object.seal(new Query()),
  'a thenable that fulfils at once': () => withThen((fulfilled: (value: number) => void) => fulfilled(1)),
  'a thenable that gives a thenable': () => withThen((fulfilled: (value: unknown) => void) => fulfilled(new Query())),
  'a thenable that rejects': () => withThen((_: unknown, rejected: (error: unknown) => void) => rejected(failure)),
  'a thenable that throws': () => withThen(fail),
  'a thenable that settles twice': () => withThen((...both: ((value: unknown) => void)[]) => both.map((settle, i) => settle(i))),
  'a frozen thenable': () => Object.freeze(withThen((fulfilled: (value: number) => void) => fulfilled(1))),
  'a function with a then': () =>
    Object.assign(
      () => 1,
      withThen((fulfilled: (value: number) => void) => fulfilled(1)),
    ),
  'a generator': parts,
  'a frozen generator': () => Object.freeze(parts()),
  'a generator that throws': function* () {
    yield 1
    throw failure
  },
  'an async generator': asyncParts,
  'a frozen async generator': () => Object.freeze(asyncParts()),
  'an async generator that throws': async function* () {
    yield 1
    throw failure
  },
  'an async generator that yields a revoked proxy': async function* () {
    yield [revoked({})]
  },
  'an iterator with a next that answers at once': () => new Steps(),
  'an iterator with a lazy next': () => {
    const iterator = { next: () => Kind.resolve({ done: true, value: 'x' }), [Symbol.asyncIterator]: () => iterator }
    return iterator
  },
  'an iterator with a next that throws': () => {
    const iterator = { next: fail, [Symbol.asyncIterator]: () => iterator }
    return iterator
  },
  'an iterator with a next that gives no step': () => {
    const iterator = { next: async () => 7, [Symbol.asyncIterator]: () => iterator }
    return iterator
  },
  'an iterator of an array': () => [1, 2].values(),
  'an iterable': () => new Rows(),
  'a frozen iterable': () => Object.freeze(new Rows()),
  'an iterable whose iterator is frozen': () => ({ [Symbol.asyncIterator]: () => Object.freeze(asyncParts()) }),
  'an iterable whose iterator is a proxy': () => ({
    [Symbol.asyncIterator]: () => new Proxy(new Steps(), { get: (it, key) => Reflect.get(it, key).bind(it) }),
  }),
  'an iterable that cannot begin': () => ({ [Symbol.asyncIterator]: fail }),
  'an iterable that gives no iterator': () => ({ [Symbol.asyncIterator]: () => 7 }),
  'a vendor’s stream': () => new Stream(asyncParts, new AbortController()),
}

const errors: Record<string, () => unknown> = {
  'an error': () => failure,
  'a frozen error': () => Object.freeze(new TypeError('t')),
  'a message that is no text': () => Object.assign(new Error(), { message: { code: 1 } }),
  'a message that throws': () => Object.defineProperty(new Error(), 'message', { get: fail }),
  'a name that is no text': () => Object.assign(new Error('m'), { name: Symbol('n') }),
  undefined: () => undefined,
  text: () => 'no',
  symbol: () => Symbol.iterator,
  'an object without a prototype': () => Object.create(null),
  'a revoked proxy': () => revoked(new Error('r')),
  'a proxy whose traps throw': () => new Proxy(new Error('p'), traps),
  'a promise': () => Promise.resolve(1),
}

const ways: Record<string, (value: unknown) => () => unknown> = {
  'at once': (value) => () => value,
  'from an async function': (value) => async () => value,
  'after a while': (value) => async () => {
    await new Promise(setImmediate)
    return value
  },
}

/** What use of it comes to, as data: what is awaited is awaited, what is iterated is iterated. */
async function use(call: () => unknown, made: unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  const say = (what: string, value: unknown): void => void seen.push([what, Object.is(value, made) ? 'the same' : plain(value)])
  try {
    const given = call()
    const inner = lookFor(given, 'then') ? await (given as Promise<unknown>) : given
    say('given', inner)
    if (lookFor(inner, Symbol.asyncIterator)) for await (const item of inner as AsyncIterable<unknown>) say('item', item)
    else if (lookFor(inner, 'next')) for (const item of inner as Iterable<unknown>) say('item', item)
  } catch (error) {
    say('thrown', error)
  }
  return seen
}

function lookFor(value: unknown, key: string | symbol): boolean {
  try {
    return value !== null && ['object', 'function'].includes(typeof value) && typeof Reflect.get(value as object, key) === 'function'
  } catch {
    return false
  }
}

function plain(value: unknown): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return value
  try {
    const own = Object.keys(value).map((key) => [key, typeof Reflect.get(value, key)])
    return [Object.prototype.toString.call(value), value instanceof Error ? value.message : '', Object.isFrozen(value), own]
  } catch {
    return 'unreadable'
  }
}

const unhandled: unknown[] = []
let before: NodeJS.UnhandledRejectionListener[] = []
beforeAll(() => {
  before = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (reason) => void unhandled.push(plain(reason)))
})
afterAll(() => {
  process.removeAllListeners('unhandledRejection')
  for (const listener of before) process.on('unhandledRejection', listener)
})

type Wrap = (hg: ReturnType<typeof homeground>, fn: () => unknown) => () => unknown
const wraps: Record<string, Wrap> = {
  agent: (hg, fn) => hg.agent('a', fn),
  tool: (hg, fn) => {
    const { execute } = hg.tool({ name: 'a', parameters: {}, execute: fn })
    return () => execute({})
  },
  'agent in an agent': (hg, fn) => hg.agent('outer', hg.agent('a', fn)),
}

async function same(wrap: Wrap, make: () => { call: () => unknown; made: unknown }): Promise<void> {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const outcome = async (how: Wrap) => {
    unhandled.length = 0
    const { call, made } = make()
    const seen = await use(how(hg, call), made)
    await new Promise(setImmediate)
    return { seen, unhandled: [...unhandled] }
  }
  const bare = await outcome((_, call) => call)
  expect(await outcome(wrap)).toEqual(bare)
  await hg.flush()
  expect(hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
  expect(exporter.spans.map(({ name }) => name.split(' ')[1]).filter((name) => name === 'a')).toHaveLength(1)
  await hg.shutdown()
}

describe.each(Object.entries(wraps))('%s', (_, wrap) => {
  describe.each(Object.entries(ways))('gives %s', (_, way) => {
    it.each(Object.entries(values))('%s', async (_, make) => {
      await same(wrap, () => {
        const made = make()
        return { call: way(made), made }
      })
    })
  })

  it.each(Object.entries(errors))('throws, and rejects with, %s', async (_, make) => {
    const error = make()
    await same(wrap, () => ({
      made: error,
      call: () => {
        throw error
      },
    }))
    await same(wrap, () => ({
      made: error,
      call: async () => {
        throw error
      },
    }))
  })
})

it('any sequence of steps, read by any sequence of a reader’s, is the same', async () => {
  const step = fc.constantFrom('yield', 'yield text', 'wait', 'throw', 'return')
  const move = fc.constantFrom('next', 'next', 'next', 'return', 'throw')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.array(move, { maxLength: 8 }), fc.boolean(), async (steps, moves, isAsync) => {
      function* sync(): Generator<unknown> {
        for (const each of steps) {
          if (each === 'throw') throw failure
          if (each === 'return') return 'done'
          if (each !== 'wait') yield each
        }
      }
      async function* later(): AsyncGenerator<unknown> {
        for (const each of steps) {
          if (each === 'throw') throw failure
          if (each === 'return') return 'done'
          if (each === 'wait') await new Promise(setImmediate)
          else yield each
        }
      }
      const read = async (generator: Generator<unknown> | AsyncGenerator<unknown>) => {
        const seen: unknown[] = []
        for (const each of moves) {
          try {
            seen.push(await (each === 'next' ? generator.next() : each === 'return' ? generator.return('left') : generator.throw(failure)))
          } catch (error) {
            seen.push(error)
          }
        }
        // To its end, as a loop would.
        seen.push(await Promise.resolve(generator.return('end')).catch((error: unknown) => error))
        return seen
      }
      const exporter = new MemoryExporter()
      const hg = homeground({ project: 'test', exporter })
      const make: () => Generator<unknown> | AsyncGenerator<unknown> = isAsync ? later : sync
      expect(await read(hg.agent('a', make)())).toEqual(await read(make()))
      await hg.shutdown()
      expect([exporter.spans.length, hg.stats().internalErrors, exporter.spans[0]?.attributes['homeground.partial']]).toEqual([
        1,
        0,
        undefined,
      ])
    }),
    { numRuns: 150 },
  )
})
