// What products pass around, at its worst: frozen, lazy, revoked, throwing when it is looked at.
import { Stream } from 'openai/streaming'

export const failure = new RangeError('mine')
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
export const values: Record<string, () => unknown> = {
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

/** What is thrown. */
export const errors: Record<string, () => unknown> = {
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
