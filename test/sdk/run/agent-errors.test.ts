// An agent's error is the product's: where nobody handles it the process hears of it, and its stack names who called.
import { describe, expect, it } from 'vitest'
import { unhandledRejections } from '../../support/unhandled-rejections.ts'
import { recorded } from '../recorded.ts'

describe('an agent whose error nobody awaits', () => {
  const failure = new Error('mine')

  it('is still told to the process: recording took it for handled', async () => {
    const { hg } = recorded()
    const agent = hg.agent('a', async () => {
      throw failure
    })
    expect(await unhandledRejections(() => void agent())).toEqual([failure])
    const generator = hg.agent('a', async function* () {
      yield* []
      throw failure
    })
    expect(await unhandledRejections(() => void generator().next())).toEqual([failure])
  })

  it('is told once only by who made it, where it is handled', async () => {
    const { hg } = recorded()
    class Kind extends Promise<never> {}
    const makers = [async () => Promise.reject(failure), () => Promise.reject(failure), () => Kind.reject(failure)]
    expect(
      await unhandledRejections(() => {
        for (const make of makers) hg.agent('a', make)().catch(() => undefined)
      }),
    ).toEqual([])
  })

  it('has the stack that it has bare: who called the agent stands in it', async () => {
    const { hg } = recorded()
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
