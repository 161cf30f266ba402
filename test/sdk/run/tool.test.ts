import { homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

function setUp() {
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  return { exporter, hg, [Symbol.asyncDispose]: () => hg.shutdown() }
}

describe('a tool call', () => {
  const fail = (): never => {
    throw new Error('trap')
  }
  const throwing = {
    get name(): string {
      return fail()
    },
  }
  it.each<[string, unknown, string]>([
    ['null', null, 'Error: there is no tool '],
    ['a call without a function', { function: null }, 'Error: there is no tool '],
    ['a getter that throws', throwing, 'Error: there is no tool '],
    ['a bigint in its arguments', { name: 'echo', arguments: { a: 10n } }, '{"a":"10"}'],
    ['arguments whose toJSON throws', { name: 'echo', arguments: { toJSON: () => fail() } }, '[unreadable: Error]'],
  ])('of %s is answered, never rejected', async (_, call, content) => {
    await using t = setUp()
    t.hg.tool({ name: 'echo', parameters: { type: 'object' }, execute: async (args) => args })
    expect((await Reflect.apply(t.hg.callTool, t.hg, [call])).content).toBe(content)
  })

  it('whose function throws a proxy that was revoked is an error for the model', async () => {
    await using t = setUp()
    t.hg.tool({
      name: 'odd',
      parameters: { type: 'object' },
      execute: async () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        throw proxy
      },
    })
    expect(await t.hg.callTool({ name: 'odd', arguments: {} })).toMatchObject({ content: 'Error: ', isError: true })
  })

  it('with arguments of 40 MB runs with all of them, and is recorded within a bound', async () => {
    await using t = setUp()
    let got = 0
    t.hg.tool({
      name: 'big',
      parameters: z.object({ text: z.string() }),
      execute: async ({ text }) => {
        got = text.length
        return text
      },
    })
    const text = 'r'.repeat(40_000_000)
    await t.hg.callTool({ id: 'c', function: { name: 'big', arguments: JSON.stringify({ text }) } })
    await t.hg.flush()
    const attributes = t.exporter.spans[0]?.attributes ?? {}
    const lengths = ['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'].map((name) => String(attributes[name]).length)
    expect(got).toBe(40_000_000)
    expect(lengths.every((length) => length > 4_000_000 && length < 5_000_000)).toBe(true)
    expect(String(attributes['gen_ai.tool.call.arguments'])).toMatch(/\[\d+ more characters\]"\}$/)
  })
})

describe('parameters that can give no JSON Schema', () => {
  it.each<[string, unknown, RegExp]>([
    ['a date', z.object({ at: z.date() }), /tool late: its schema cannot give a JSON Schema: Date/],
    ['null', null, /tool late: its schema cannot give a JSON Schema/],
    ['a number', 5, /tool late: its schema cannot give a JSON Schema/],
  ])('%s: are refused with the tool’s name, a code and what to do', async (_, parameters, message) => {
    await using t = setUp()
    const make = (): unknown => Reflect.apply(t.hg.tool, t.hg, [{ name: 'late', parameters, execute: async () => 1 }])
    expect(make).toThrow(message)
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-argument', hint: expect.any(String) }))
  })
})
