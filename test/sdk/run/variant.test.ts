// A canary in production: which sessions get its value, and what their spans say of it.
import { type Homeground, homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const sessions = Array.from({ length: 1_000 }, (_, index) => `session-${index}`)

function desk(share: number, exporter = new MemoryExporter()) {
  const hg = homeground({ project: 'test', exporter, variants: { model: { value: 'tuned', share }, prompt: { value: 'careful', share } } })
  return { hg, exporter, answer: agentOf(hg), [Symbol.asyncDispose]: () => hg.shutdown() }
}

function agentOf(hg: Homeground) {
  hg.tool({ name: 'look', description: 'Looks', parameters: z.object({}), effect: 'read', execute: async () => 'seen' })
  return hg.agent(
    'desk',
    async (_session: string) => {
      const chosen = { model: hg.variant<string>('model', 'live'), prompt: hg.variant<string>('prompt', 'brief') }
      await hg.callTool({ id: 'call-1', type: 'function', function: { name: 'look', arguments: '{}' } })
      return chosen
    },
    { session: (id) => ({ id }) },
  )
}

/** The sessions that got the canary's value of this variant. */
async function canaries(share: number, variant: 'model' | 'prompt' = 'model'): Promise<Set<string>> {
  await using t = desk(share)
  const chosen = await Promise.all(sessions.map(async (session) => ({ session, value: (await t.answer(session))[variant] })))
  return new Set(chosen.filter(({ value }) => value === 'tuned' || value === 'careful').map(({ session }) => session))
}

describe('hg.variant for a share of the sessions', () => {
  it('gives a session the same value each time, in every process, to about the share that was asked for', async () => {
    const first = await canaries(0.2)
    expect(first.size).toBeGreaterThan(160)
    expect(first.size).toBeLessThan(240)
    expect(await canaries(0.2)).toEqual(first)
  })

  it('only adds sessions as the share grows, gives it to none at 0 and to all at 1', async () => {
    const [small, large] = [await canaries(0.1), await canaries(0.4)]
    expect([...small].filter((session) => !large.has(session))).toEqual([])
    expect(large.size).toBeGreaterThan(small.size)
    expect((await canaries(0)).size).toBe(0)
    expect((await canaries(1)).size).toBe(sessions.length)
  })

  it('chooses for each variant anew: who gets one is not who gets the other', async () => {
    const [model, prompt] = [await canaries(0.5), await canaries(0.5, 'prompt')]
    const both = [...model].filter((session) => prompt.has(session)).length
    expect(both).toBeGreaterThan(200)
    expect(both).toBeLessThan(300)
  })

  it('says on the spans of the run which value it was, the default included', async () => {
    await using t = desk(0.2)
    const canary = await canaries(0.2)
    const [one, other] = [[...canary][0] ?? '', sessions.find((session) => !canary.has(session)) ?? '']
    await t.answer(one)
    await t.answer(other)
    await t.hg.flush()
    const told = t.exporter.spans.map(({ name, attributes }) => [name, attributes['session.id'], attributes['homeground.variant.model']])
    expect(told.toSorted()).toEqual(
      [
        ['execute_tool look', one, 'tuned'],
        ['invoke_agent desk', one, 'tuned'],
        ['execute_tool look', other, 'live'],
        ['invoke_agent desk', other, 'live'],
      ].toSorted(),
    )
  })
})
