// Whatever an agent or a tool gives or throws, the recorded call is the bare one: the same object, used to the same end, the same error, no rejection that
// the bare call has not; and one span of it, closed.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errors, values } from './any-values.ts'

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
