// An agent's error is the product's: where nobody handles it the process hears of it, and its stack names who called.
import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { afterEach, describe, expect, it } from 'vitest'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function setUp() {
  const hg = homeground({ project: 'test', exporter: new MemoryExporter() })
  closing.push(() => hg.shutdown())
  return { hg }
}

describe('an agent whose error nobody awaits', () => {
  const unhandled = async (work: () => unknown): Promise<unknown[]> => {
    const seen: unknown[] = []
    const before = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', (reason) => void seen.push(reason))
    try {
      work()
      await new Promise((resolve) => setTimeout(resolve, 20))
      return seen
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const listener of before) process.on('unhandledRejection', listener)
    }
  }
  const failure = new Error('mine')

  it('is still told to the process: recording took it for handled', async () => {
    const { hg } = setUp()
    const agent = hg.agent('a', async () => {
      throw failure
    })
    expect(await unhandled(() => void agent())).toEqual([failure])
    const generator = hg.agent('a', async function* () {
      yield* []
      throw failure
    })
    expect(await unhandled(() => void generator().next())).toEqual([failure])
  })

  it('is told once only by who made it, where it is handled', async () => {
    const { hg } = setUp()
    class Kind extends Promise<never> {}
    const makers = [async () => Promise.reject(failure), () => Promise.reject(failure), () => Kind.reject(failure)]
    expect(
      await unhandled(() => {
        for (const make of makers) hg.agent('a', make)().catch(() => undefined)
      }),
    ).toEqual([])
  })

  it('has the stack that it has bare: who called the agent stands in it', async () => {
    const { hg } = setUp()
    const agent = hg.agent('a', async () => {
      await new Promise(setImmediate)
      throw new Error('deep')
    })
    const generate = hg.agent('a', async function* () {
      await new Promise(setImmediate)
      yield* []
      throw new Error('deep')
    })
    async function callerOfAgent() {
      await agent()
    }
    async function readerOfAgent() {
      for await (const _ of generate());
    }
    const stack = async (call: () => Promise<void>) => await call().catch((error: Error) => error.stack)
    expect(await stack(callerOfAgent)).toMatch(/at async callerOfAgent/)
    expect(await stack(readerOfAgent)).toMatch(/at async readerOfAgent/)
  })
})
