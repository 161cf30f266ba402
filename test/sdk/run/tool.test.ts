import { homeground } from '@homeground/sdk'
import { MemoryExporter, startModelServer } from '@homeground/sdk/testing'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { unhandledRejections } from '../../support/unhandled-rejections.ts'
import { recorded } from '../recorded.ts'

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
    const t = recorded()
    t.hg.tool({ name: 'echo', parameters: { type: 'object' }, execute: async (args) => args })
    expect((await Reflect.apply(t.hg.callTool, t.hg, [call])).content).toBe(content)
  })

  it('whose function throws a proxy that was revoked is an error for the model', async () => {
    const t = recorded()
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
    const t = recorded()
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

describe('a schema whose check looks into a database that is away', () => {
  const checked = () => {
    const seen: string[] = []
    const order = z.string().refine(async (value) => {
      seen.push(value)
      throw new Error('the database is away')
    })
    return { seen, parameters: z.object({ order, currency: z.string().default('EUR') }) }
  }

  it('is asked once by callTool, and its error is the model’s, nobody else’s', async () => {
    const { hg } = recorded()
    const { seen, parameters } = checked()
    hg.tool({ name: 'refund', parameters, execute: async () => 'done' })
    const answers: unknown[] = []
    const call = { id: 'c1', name: 'refund', arguments: '{"order":"1"}' }
    expect(await unhandledRejections(async () => answers.push(await hg.callTool(call)))).toEqual([])
    expect([answers, seen]).toEqual([
      [{ callId: 'c1', name: 'refund', content: 'Error: invalid arguments for refund: the database is away', isError: true }],
      ['1'],
    ])
  })

  it('is not asked where the product calls the function, which finds its call of the model’s all the same', async () => {
    const { hg, exporter } = recorded()
    const calls = ['1', '2'].map((order) => ({ id: `c${order}`, name: 'refund', arguments: { order } }))
    const server = await startModelServer({ script: [{ toolCalls: calls }] })
    onTestFinished(() => server.close())
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 }))
    const { seen, parameters } = checked()
    const tool = hg.tool({ name: 'refund', parameters, execute: async ({ order }) => order })
    const agent = hg.agent('a', async () => {
      await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
      await tool.execute({ order: '2', currency: 'EUR' })
      await tool.execute({ order: '1', currency: 'EUR' })
    })
    expect(await unhandledRejections(agent)).toEqual([])
    await hg.flush()
    const served = exporter.spans.filter(({ name }) => name.startsWith('execute_tool'))
    expect([seen, served.map(({ attributes: a }) => a['gen_ai.tool.call.id'])]).toEqual([[], ['c2', 'c1']])
  })
})

describe('a tool that the product runs after other calls', () => {
  it.each<[string, (client: OpenAI, between: () => Promise<unknown>) => Promise<unknown>]>([
    ['texts that are embedded', (client) => client.embeddings.create({ model: 'e', input: 'x' })],
    ['a tool that asks a model itself', (_, between) => between()],
  ])('finds its call of the model’s: behind %s', async (_, other) => {
    const { hg, exporter } = recorded()
    const toolCalls = [
      { id: 'c1', name: 'summarise', arguments: {} },
      { id: 'c2', name: 'refund', arguments: { order: '7' } },
    ]
    const server = await startModelServer({ script: [{ toolCalls }, 'a summary'] })
    onTestFinished(() => server.close())
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 }))
    const ask = () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const summarise = hg.tool({ name: 'summarise', parameters: {}, execute: ask })
    const refund = hg.tool({ name: 'refund', parameters: {}, execute: async () => 'done' })
    await hg.agent('a', async () => {
      await ask()
      await other(client, () => summarise.execute({}))
      await refund.execute({ order: '7', currency: 'EUR' })
    })()
    await hg.flush()
    const { attributes } = exporter.spans.find(({ name }) => name === 'execute_tool refund') ?? {}
    expect([attributes?.['gen_ai.tool.call.id'], attributes?.['gen_ai.tool.call.arguments']]).toEqual(['c2', '{"order":"7"}'])
  })

  it('of a model that a tool asks finds the call of that model’s, and an agent in a tool those of its own', async () => {
    const { hg, exporter } = recorded()
    const call = (id: string, name: string) => ({ toolCalls: [{ id, name, arguments: {} }] })
    const server = await startModelServer({ script: [call('outer', 'plan'), call('inner', 'look'), call('agent', 'look')] })
    onTestFinished(() => server.close())
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 }))
    const ask = () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const look = hg.tool({ name: 'look', parameters: {}, execute: async () => 'seen' })
    const asking = async () => {
      await ask()
      await look.execute({})
    }
    const plan = hg.tool({
      name: 'plan',
      parameters: {},
      execute: async () => {
        await asking()
        await hg.agent('b', asking)()
      },
    })
    await hg.agent('a', async () => {
      await ask()
      await plan.execute({})
    })()
    await hg.flush()
    const served = exporter.spans.filter(({ name }) => name.startsWith('execute_tool'))
    expect(served.map(({ attributes: a }) => a['gen_ai.tool.call.id']).sort()).toEqual(['agent', 'inner', 'outer'])
  })
})

describe('parameters that can give no JSON Schema', () => {
  it.each<[string, unknown, RegExp]>([
    ['a date', z.object({ at: z.date() }), /tool late: its schema cannot give a JSON Schema: Date/],
    ['null', null, /tool late: its schema cannot give a JSON Schema/],
    ['a number', 5, /tool late: its schema cannot give a JSON Schema/],
  ])('%s: are refused with the tool’s name, a code and what to do', async (_, parameters, message) => {
    const t = recorded()
    const make = (): unknown => Reflect.apply(t.hg.tool, t.hg, [{ name: 'late', parameters, execute: async () => 1 }])
    expect(make).toThrow(message)
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-argument', hint: expect.any(String) }))
  })
})

describe('a tool that is a mistake', () => {
  const execute = () => 1
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['has no name', { execute }, /^a tool has no name: `name` is of type undefined$/],
    ['has an empty one', { name: '', execute }, /^a tool has no name: `name` is empty$/],
    ['has no function', { name: 'look' }, /^tool look: `execute` is of type undefined, not a function$/],
    [
      'misspells its effect',
      { name: 'look', execute, effect: 'reads' },
      /^tool look: `effect` is 'reads'; it may be none, read, write, unknown$/,
    ],
  ])('%s: is refused where it is made, also switched off', async (_, options, said) => {
    for (const enabled of [true, false]) {
      const hg = homeground({ project: 'test', exporter: new MemoryExporter(), enabled })
      expect(() => Reflect.apply(hg.tool, hg, [{ parameters: {}, ...options }])).toThrow(
        expect.objectContaining({ code: 'invalid-argument', message: expect.stringMatching(said) }),
      )
      await hg.shutdown()
    }
  })

  it('has a name that another has: the process is told where callTool has to choose, and not where nobody asks it to', async () => {
    const told: string[] = []
    const listen = (warning: Error): void => void told.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    const hg = homeground({ project: 'test', exporter: new MemoryExporter() })
    const [ada, bob] = ['ada', 'bob'].map((user) => hg.tool({ name: 'profile', parameters: {}, execute: () => user }))
    const call = { id: 'c1', name: 'profile', arguments: '{}' }
    expect([(await ada?.call(call))?.content, (await bob?.call(call))?.content]).toEqual(['ada', 'bob'])
    await new Promise(setImmediate)
    expect(told).toEqual([])
    for (let n = 0; n < 2; n += 1) expect((await hg.callTool(call)).content).toBe('bob')
    await new Promise(setImmediate)
    expect(told).toEqual([
      expect.stringMatching(/^homeground: callTool\(\) serves profile by the last of several tools of that name\. .*call\(call\)$/),
    ])
    await hg.shutdown()
  })
})

describe('the definitions of an API that is none', () => {
  it('are refused, where those of chat completions would go to another vendor', () => {
    const { hg } = recorded()
    hg.tool({ name: 'look', parameters: {}, execute: () => 1 })
    expect(() => Reflect.apply(hg.toolDefinitions, hg, ['anthropic'])).toThrow(
      expect.objectContaining({ code: 'invalid-argument', hint: expect.stringContaining('anthropic.messages') }),
    )
    expect(Reflect.apply(hg.toolDefinitions, hg, [undefined])).toHaveLength(1)
  })
})
