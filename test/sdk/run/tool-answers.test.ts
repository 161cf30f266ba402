// What a tool is given and answers is whole, however long: what bounds the recording bounds nothing else.
import { homeground } from '@homeground/sdk'
import { type Seam, withSeam } from '@homeground/sdk/seam'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recorded } from '../recorded.ts'

function setUp(execute: (args: Record<string, unknown>) => unknown) {
  const { hg, exporter } = recorded()
  hg.tool({ name: 't', parameters: { type: 'object' }, execute })
  return { hg, exporter }
}

const nested = (depth: number): unknown => Array.from({ length: depth }).reduce((inner: unknown) => ({ inner }), 1)
class SelfJson {
  id = 7
  toJSON() {
    return this
  }
}
const selfJson = new SelfJson()

const long: [string, unknown][] = [
  ['a list of 300,000', Array.from({ length: 300_000 }, (_, index) => index)],
  ['an object of 300,000 members', Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`k${index}`, index]))],
  ['text of 5 Mi characters', { text: 'x'.repeat(5 * 1024 * 1024) }],
  ['a depth of 150', nested(150)],
  ['a depth of 2500', nested(2500)],
]

describe('a tool’s answer', () => {
  it.each([...long, ['what toJSON gives, itself', selfJson] as [string, unknown]])('of %s reaches the model whole', async (_, value) => {
    const { hg } = setUp(() => value)
    const answer = await hg.callTool({ name: 't', arguments: '{}' })
    // Compared by hand: what differs has megabytes.
    const whole = value === selfJson ? '{"id":7}' : JSON.stringify(value)
    expect([answer.isError, answer.content.length, answer.content === whole, answer.result === value]).toEqual([
      false,
      whole.length,
      true,
      true,
    ])
  })

  it.each([
    { id: 'c', type: 'custom', custom: { name: 't', input: 'SELECT 1' } } as const,
    { id: 'i', call_id: 'c', type: 'custom_tool_call', name: 't', input: 'SELECT 1' } as const,
  ])('to a custom call of type $type, whose text is no JSON, is given by the function', async (call) => {
    const { hg } = setUp(({ input }) => `ran ${input}`)
    expect(await hg.callTool(call)).toMatchObject({ callId: 'c', content: 'ran SELECT 1', isError: false })
  })

  it('of binary data reaches the model whole', async () => {
    const bytes = Buffer.alloc(100_000, 7)
    const { hg } = setUp(() => ({ bytes }))
    const { content } = await hg.callTool({ name: 't', arguments: '{}' })
    expect(content === JSON.stringify({ bytes: { type: 'blob', base64: bytes.toString('base64') } })).toBe(true)
  })

  it('is what JSON.stringify makes of any JSON', async () => {
    let value: unknown
    const { hg } = setUp(() => value)
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (given) => {
        value = given
        const { content } = await hg.callTool({ name: 't', arguments: '{}' })
        expect(content).toBe(typeof given === 'string' ? given : JSON.stringify(given))
      }),
      { numRuns: 300 },
    )
  })

  it('asks toJSON once, with the key, as JSON.stringify does', async () => {
    const keys: unknown[] = []
    const value = {
      toJSON(key: unknown) {
        keys.push(key)
        return { inner: { toJSON: (inner: unknown) => `${inner}` }, list: [{ toJSON: (index: unknown) => ({ index, toJSON: 1 }) }] }
      },
    }
    const { hg } = setUp(() => value)
    const { content } = await hg.callTool({ name: 't', arguments: '{}' })
    expect(content).toBe(JSON.stringify(value))
    expect(new Set(keys)).toEqual(new Set(['']))
  })
})

describe('arguments that are an object', () => {
  it.each(long)('of %s reach the function whole', async (_, value) => {
    let got: unknown
    const { hg } = setUp((args) => {
      got = args
      return 'ok'
    })
    expect((await hg.callTool({ id: 'c', type: 'tool_use', name: 't', input: { value } })).content).toBe('ok')
    expect(JSON.stringify(got) === JSON.stringify({ value })).toBe(true)
  })
})

describe('in a replay that runs the function live', () => {
  it.each(long)('the product gets %s whole', async (_, value) => {
    const { hg } = setUp(() => value)
    const seam: Seam = { tool: ({ live }) => live(), io: ({ live }) => live() }
    const state = { attributes: {}, record: () => undefined }
    const [answer, read] = await withSeam({ seam, state }, async () => [
      await hg.callTool({ name: 't', arguments: '{}' }),
      await hg.io('read', () => value),
    ])
    expect(answer?.content === JSON.stringify(value)).toBe(true)
    expect(JSON.stringify(read) === JSON.stringify(value)).toBe(true)
  })
})

describe('a tool that yields', () => {
  const parts: [string, () => unknown, string, unknown, unknown?][] = [
    [
      'text',
      async function* () {
        yield 'two '
        yield 'words'
      },
      'two words',
      'two words',
    ],
    [
      'objects',
      async function* () {
        yield { row: 1 }
        yield { row: 2 }
      },
      '[{"row":1},{"row":2}]',
      [{ row: 1 }, { row: 2 }],
    ],
    [
      'parts and returns the whole',
      async function* () {
        yield 'thinking'
        return { answer: 42 }
      },
      '{"answer":42}',
      { answer: 42 },
    ],
    [
      'at once',
      function* () {
        yield 1
        yield 2
      },
      '[1,2]',
      [1, 2],
    ],
    [
      'as an iterable',
      async () => ({
        async *[Symbol.asyncIterator]() {
          yield 'a'
          yield 'b'
        },
      }),
      'ab',
      'ab',
    ],
    ['nothing', async function* () {}, '', ''],
    [
      '20,000 items',
      async function* () {
        for (let i = 0; i < 20_000; i += 1) yield i
      },
      JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i)),
      Array.from({ length: 20_000 }, (_, i) => i),
    ],
  ]
  it.each(parts)('%s answers with all of it, and its span ends', async (_, execute, content, result) => {
    const { hg, exporter } = setUp(execute)
    const answer = await hg.callTool({ id: 'c', function: { name: 't', arguments: '{}' } })
    expect(answer).toEqual({ callId: 'c', name: 't', content, isError: false, result })
    await hg.flush()
    expect(hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
    const recorded = String(exporter.spans[0]?.attributes['gen_ai.tool.call.result'])
    if (content.length < 100) expect(JSON.parse(recorded)).toEqual(result)
    else expect(recorded).toMatch(/,9999,"\[10000 more\]"\]$/)
    const off = homeground({ project: 'test', enabled: false })
    off.tool({ name: 't', parameters: { type: 'object' }, execute })
    expect(await off.callTool({ id: 'c', function: { name: 't', arguments: '{}' } })).toEqual(answer)
  })

  it('and then throws is an error for the model', async () => {
    const { hg, exporter } = setUp(async function* () {
      yield 'half'
      throw new RangeError('no more')
    })
    expect(await hg.callTool({ name: 't', arguments: {} })).toMatchObject({ isError: true, content: 'Error: no more' })
    await hg.flush()
    expect(exporter.spans.map(({ attributes: a }) => a['error.type'])).toEqual(['RangeError'])
  })

  it('runs inside its span, also when a replay runs it live', async () => {
    const { hg, exporter } = setUp(async function* () {
      yield await hg.io('inner', () => 'rows')
    })
    await hg.callTool({ name: 't', arguments: {} })
    await hg.flush()
    const tool = exporter.spans.find(({ name }) => name === 'execute_tool t')
    expect(exporter.spans.find(({ name }) => name === 'io inner')?.parentSpanId).toBe(tool?.spanId)
    const spans: { name: string; spanId: string; parentSpanId?: string }[] = []
    const seam: Seam = { tool: ({ live }) => live() }
    const state = { attributes: {}, record: (span: (typeof spans)[number]) => void spans.push(span) }
    const answer = await withSeam({ seam, state }, async () => await hg.callTool({ name: 't', arguments: {} }))
    expect(answer.content).toBe('rows')
    const [inner, outer] = ['io inner', 'execute_tool t'].map((name) => spans.find((span) => span.name === name))
    expect([inner?.parentSpanId, spans.length]).toEqual([outer?.spanId, 2])
  })
})
