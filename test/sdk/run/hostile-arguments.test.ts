// Whatever the SDK's own functions are given, the product's functions inside run, once, and what they give or throw arrives.
import { describe, expect, it, onTestFinished } from 'vitest'
import { recorded } from '../recorded.ts'

function setUp() {
  const { hg, exporter } = recorded()
  const warnings: string[] = []
  const listen = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  const spans = async () => {
    await hg.flush()
    await new Promise(setImmediate)
    expect(hg.stats().openSpans).toBe(0)
    return exporter.spans
  }
  return { hg, spans, warnings }
}

const fail = (): never => {
  throw new Error('trap')
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const hostile: [string, unknown][] = [
  ['null', null],
  ['a number', 7],
  ['a string', 'call-1'],
  ['a revoked proxy', revoked()],
  ['a proxy whose traps throw', new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail })],
  [
    'an object with getters that throw',
    Object.defineProperties(
      {},
      Object.fromEntries(['callId', 'toolCall', 'trace', 'agents', 'key'].map((name) => [name, { get: fail, enumerable: true }])),
    ),
  ],
  ['an object of another shape', { callId: {}, toolCall: revoked(), trace: 'f', span: 5, agents: 'all', tags: [1], key: fail }],
]

describe.each(hostile)('%s', (_, given) => {
  it('as a tool’s second argument arrives there', async () => {
    const { hg, spans } = setUp()
    const tool = hg.tool({ name: 't', parameters: {}, execute: (_: unknown, context: unknown) => [context] })
    expect(Object.is(tool.execute({}, given)[0], given)).toBe(true)
    expect(await spans()).toHaveLength(1)
    expect(hg.stats().internalErrors).toBe(0)
  })

  it('as a carried run leaves the work inside untouched, and what it records whole', async () => {
    const { hg, spans } = setUp()
    expect(Reflect.apply(hg.resume, hg, [given, () => hg.agent('a', () => 'done')()])).toBe('done')
    const [span] = await spans()
    expect(span).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), name: 'invoke_agent a' })
    expect(span?.parentSpanId).toBeUndefined()
  })

  it('as options of hg.io, of an agent, of a session leaves what they are for untouched', async () => {
    const { hg, spans } = setUp()
    expect(await Reflect.apply(hg.io, hg, ['read', () => 'rows', given])).toBe('rows')
    expect(Reflect.apply(hg.agent, hg, ['a', () => 'done', given])()).toBe('done')
    expect(Reflect.apply(hg.agent, hg, ['a', () => 'done', { session: given }])()).toBe('done')
    expect(Reflect.apply(hg.agent, hg, ['a', () => 'done', { session: () => given }])()).toBe('done')
    expect(Reflect.apply(hg.session, hg, [given, () => hg.agent('a', () => 'done')()])).toBe('done')
    expect(await spans()).toHaveLength(5)
  })

  it('as what a variant is by default is what it is', () => {
    const { hg } = setUp()
    expect(Object.is(hg.agent('a', () => Reflect.apply(hg.variant, hg, ['v', given]))(), given)).toBe(true)
  })
})

describe('an agent’s session', () => {
  it.each<[string, () => never]>([
    ['throws', fail],
    ['answers with a promise', (async () => ({ id: 's' })) as () => never],
    ['rejects', (async () => fail()) as () => never],
  ])('that %s leaves the agent without one, counted, with one warning', async (_, session) => {
    const { hg, spans, warnings } = setUp()
    const agent = hg.agent('desk', async (question: string) => `${question}!`, { session })
    expect([await agent('a'), await agent('b')]).toEqual(['a!', 'b!'])
    const all = await spans()
    expect(all.map(({ attributes: a }) => [a['homeground.agent.input'], a['homeground.agent.output'], a['session.id']])).toEqual([
      ['"a"', '"a!"', undefined],
      ['"b"', '"b!"', undefined],
    ])
    expect(hg.stats().internalErrors).toBe(2)
    expect(warnings).toEqual([expect.stringMatching(/^homeground: the session of agent desk /)])
  })
})

describe('an error', () => {
  class Kind extends Error {}
  const thrown: [string, unknown, { type: string; message: string | undefined }][] = [
    ['whose message is an object', Object.assign(new TypeError(), { message: { code: 7 } }), { type: 'TypeError', message: '{"code":7}' }],
    ['whose message throws', Object.defineProperty(new TypeError(), 'message', { get: fail }), { type: 'TypeError', message: undefined }],
    ['whose name is a number', Object.assign(new Kind('m'), { name: 5 }), { type: 'Kind', message: 'm' }],
    ['whose name throws', Object.defineProperty(new Kind('m'), 'name', { get: fail }), { type: 'Kind', message: 'm' }],
    ['that is a plain object', { name: 'Refused', message: 'no' }, { type: 'Refused', message: 'no' }],
    ['that is a circular object', Object.assign(Object.create(null), { self: 1 }), { type: 'Error', message: '{"self":1}' }],
    ['that is nothing', undefined, { type: 'Error', message: 'undefined' }],
    ['that is a symbol', Symbol('x'), { type: 'Error', message: 'Symbol(x)' }],
    ['that is a revoked proxy', revoked(), { type: 'Error', message: undefined }],
  ]
  it.each(thrown)('%s arrives as it is, and is recorded', async (_, error, { type, message }) => {
    const { hg, spans } = setUp()
    const raise = (): never => {
      throw error
    }
    const same = async (call: () => unknown): Promise<boolean> => {
      try {
        await call()
        return false
      } catch (given) {
        return Object.is(given, error)
      }
    }
    const tool = hg.tool({ name: 't', parameters: {}, execute: raise })
    const calls = [hg.agent('a', raise), () => tool.execute({}), hg.agent('a', async () => raise()), () => hg.io('i', raise)]
    for (const call of calls) expect(await same(call)).toBe(true)
    const answer = await hg.callTool({ name: 't', arguments: {} })
    expect(answer).toMatchObject({ isError: true, content: `Error: ${message ?? ''}` })
    const all = await spans()
    expect(all.map(({ attributes: a }) => [a['error.type'], a['homeground.error.message']])).toEqual(all.map(() => [type, message]))
    expect([all.length, hg.stats().internalErrors]).toEqual([5, 0])
  })
})
