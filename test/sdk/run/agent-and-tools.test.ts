import { PassThrough } from 'node:stream'
import { homeground } from '@homeground/sdk'
import { type SeamModelRequest, type SeamToolCall, seamHandshake, withSeam } from '@homeground/sdk/seam'
import { MemoryExporter, type ModelAnswer, startModelServer } from '@homeground/sdk/testing'
import type { SpanRecord } from '@homeground/sdk/trace'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

const refundParameters = z.object({ order: z.string().transform(Number), reason: z.string().default('none given') })

async function setUp(answers: readonly ModelAnswer[]) {
  const server = await startModelServer({ script: answers })
  const exporter = new MemoryExporter()
  const hg = homeground({ project: 'test', exporter })
  const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 }))
  const got: unknown[] = []
  hg.tool({
    name: 'refund',
    description: 'Refunds an order',
    parameters: refundParameters,
    effect: 'write',
    execute: async (args) => {
      got.push(args)
      if (args.order === 13) throw new RangeError('order 13 is not yours')
      return { refunded: args.order }
    },
  })
  const agent = hg.agent('support', async (question: string) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
    for (;;) {
      const answer = await client.chat.completions.create({ model: hg.variant('model', 'small'), messages, tools: hg.toolDefinitions() })
      const message = answer.choices[0]?.message
      if (message?.tool_calls === undefined) return message?.content ?? ''
      messages.push(message)
      for (const call of message.tool_calls)
        messages.push({ role: 'tool', tool_call_id: call.id, content: (await hg.callTool(call)).content })
    }
  })
  const close = async () => {
    await hg.shutdown()
    await server.close()
  }
  return { server, exporter, hg, agent, got, client, [Symbol.asyncDispose]: close }
}

const outline = (spans: readonly SpanRecord[]) =>
  spans
    .toSorted((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano))
    .map(({ name, traceId, parentSpanId, spanId }) => ({ name, traceId, parentSpanId, spanId }))

const toolMessages = (request: { text: string } | undefined): unknown[] =>
  (JSON.parse(request?.text ?? '{}') as { messages: OpenAI.ChatCompletionMessageParam[] }).messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content)

const hostileProxy = (): object =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('not yours')
      },
    },
  )

const refund = (order: string, id = 'c1') => ({ toolCalls: [{ id, name: 'refund', arguments: { order } }] })

describe('agent and tools', () => {
  it('nest in one trace, with the arguments that the model wrote and what the function gave', async () => {
    await using t = await setUp([refund('7'), 'Done.'])
    const result = await t.hg.session({ id: 's1', user: 'u1', tags: { plan: 'pro' } }, () => t.agent('Refund 7'))
    await t.hg.flush()
    expect(result).toBe('Done.')
    expect(t.got).toEqual([{ order: 7, reason: 'none given' }])
    const spans = outline(t.exporter.spans)
    const [root] = spans
    expect(spans).toEqual([
      { name: 'invoke_agent support', traceId: root?.traceId, parentSpanId: undefined, spanId: root?.spanId },
      ...['chat small', 'execute_tool refund', 'chat small'].map((name) => ({
        name,
        traceId: root?.traceId,
        parentSpanId: root?.spanId,
        spanId: expect.any(String),
      })),
    ])
    const tool = t.exporter.spans.find(({ name }) => name === 'execute_tool refund')
    expect(tool?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'refund',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.call.arguments': '{"order":"7"}',
      'gen_ai.tool.call.result': '{"refunded":7}',
      'homeground.tool.effect': 'write',
      'homeground.tag.plan': 'pro',
      'homeground.variant.model': 'small',
      'session.id': 's1',
      'gen_ai.conversation.id': 's1',
      'user.id': 'u1',
    })
    const agent = t.exporter.spans.find(({ name }) => name === 'invoke_agent support')
    expect(agent?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'homeground.agent.input': '"Refund 7"',
      'homeground.agent.output': '"Done."',
      'homeground.tag.plan': 'pro',
      'homeground.variant.model': 'small',
      'session.id': 's1',
      'gen_ai.conversation.id': 's1',
      'user.id': 'u1',
    })
  })

  it.each<[string, unknown[], string | undefined, number | undefined]>([
    ['nothing', [], undefined, 0],
    ['one', ['hi'], '"hi"', undefined],
    ['a list, which is one', [['hi', 7]], '["hi",7]', undefined],
    ['several', ['hi', { plan: 'pro' }], '["hi",{"plan":"pro"}]', 2],
    ['an empty one before another', [undefined, 'hi'], '[null,"hi"]', 2],
    ['a callback behind', ['hi', () => {}], '"hi"', undefined],
    ['nothing, a signal and a response behind', ['hi', 7, undefined, new AbortController().signal, new PassThrough()], '["hi",7]', 2],
    ['a controller of a stream and a hostile proxy behind', ['hi', { enqueue() {} }, hostileProxy()], '"hi"', undefined],
    ['a function alone', [Math.max], '"[function max]"', undefined],
  ])('record what the agent was called with: %s', async (_, given, input, count) => {
    await using t = await setUp([])
    const agent = t.hg.agent('any', (...args: unknown[]) => args.length)
    expect(agent(...given)).toBe(given.length)
    await t.hg.flush()
    const attributes = t.exporter.spans[0]?.attributes
    expect([attributes?.['homeground.agent.input'], attributes?.['homeground.agent.arguments']]).toEqual([input, count])
  })

  it('give definitions that each vendor takes', async () => {
    await using t = await setUp([])
    const parameters = {
      type: 'object',
      properties: { order: { type: 'string' }, reason: { type: 'string', default: 'none given' } },
      required: ['order'],
    }
    const described = { name: 'refund', description: 'Refunds an order' }
    expect(t.hg.toolDefinitions()).toEqual([{ type: 'function', function: { ...described, parameters } }])
    expect(t.hg.toolDefinitions('openai.responses')).toEqual([{ type: 'function', ...described, parameters, strict: false }])
    expect(t.hg.toolDefinitions('anthropic.messages')).toEqual([{ ...described, input_schema: parameters }])
    expect(() => t.hg.toolDefinitions('openai.chat', ['nope'])).toThrow('there is no tool nope; there are: refund')
  })

  it('answer the model with a tool error for bad JSON, bad arguments, an unknown tool and a function that throws', async () => {
    await using t = await setUp([
      {
        toolCalls: [
          { id: 'a', name: 'refund', arguments: '{"order":' },
          { id: 'b', name: 'refund', arguments: { order: 7 } },
          { id: 'c', name: 'fly', arguments: {} },
        ],
      },
      refund('13', 'd'),
      'Sorry.',
    ])
    expect(await t.agent('?')).toBe('Sorry.')
    await t.hg.flush()
    expect(toolMessages(t.server.requests[2])).toEqual([
      'Error: invalid arguments for refund: the arguments are no JSON: {"order":',
      'Error: invalid arguments for refund: order: Invalid input: expected string, received number',
      'Error: there is no tool fly',
      'Error: order 13 is not yours',
    ])
    const tools = t.exporter.spans.filter(({ name }) => name.startsWith('execute_tool'))
    expect(tools.map(({ attributes: a }) => [a['gen_ai.tool.call.id'], a['error.type'], a['gen_ai.tool.call.arguments']])).toEqual([
      ['a', 'invalid_arguments', '"{\\"order\\":"'],
      ['b', 'invalid_arguments', '{"order":7}'],
      ['c', 'unknown_tool', '{}'],
      ['d', 'RangeError', '{"order":"13"}'],
    ])
  })

  it('find the call that is served when a framework calls the function itself, whatever the order', async () => {
    await using t = await setUp([
      { toolCalls: [refund('1', 'c1').toolCalls[0], refund('2', 'c2').toolCalls[0]].filter((call) => call !== undefined) },
      'x',
    ])
    const tool = t.hg.tool({ name: 'refund', parameters: refundParameters, execute: async ({ order }) => order * 10 })
    await t.hg.agent('a', async () => {
      await t.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
      await tool.execute({ order: 2, reason: 'none given' })
      await tool.execute({ order: 1, reason: 'none given' })
    })()
    await t.hg.flush()
    const tools = t.exporter.spans.filter(({ name }) => name.startsWith('execute_tool'))
    expect(
      tools.map(({ attributes: a }) => [a['gen_ai.tool.call.id'], a['gen_ai.tool.call.arguments'], a['gen_ai.tool.call.result']]),
    ).toEqual([
      ['c2', '{"order":"2"}', '20'],
      ['c1', '{"order":"1"}', '10'],
    ])
  })

  it('return what they return unwrapped: values, generators, errors, synchronously where they are', async () => {
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const failure = new Error('mine')
    expect(hg.agent('sync', (a: number, b: number) => a + b)(1, 2)).toBe(3)
    expect(() =>
      hg.agent('throws', () => {
        throw failure
      })(),
    ).toThrow(failure)
    await expect(hg.agent('rejects', () => Promise.reject(failure))()).rejects.toBe(failure)
    const seen: unknown[] = []
    const generate = hg.agent('generates', async function* (n: number) {
      for (let i = 0; i < n; i += 1) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        yield `${i}${await hg.io('where', () => hg.trace() !== undefined)}`
      }
    })
    for await (const item of generate(3)) seen.push(item)
    expect(seen).toEqual(['0true', '1true', '2true'])
    await hg.shutdown()
    expect(
      exporter.spans
        .filter(({ name }) => name.startsWith('invoke'))
        .map(({ name, attributes: a }) => [name, a['homeground.agent.input'], a['homeground.agent.output'], a['error.type']]),
    ).toEqual([
      ['invoke_agent sync', '[1,2]', '3', undefined],
      ['invoke_agent throws', undefined, undefined, 'Error'],
      ['invoke_agent rejects', undefined, undefined, 'Error'],
      ['invoke_agent generates', '3', '"0true1true2true"', undefined],
    ])
  })

  it('send feedback about the run that they are called in', async () => {
    await using t = await setUp(['ok'])
    const trace = await t.hg.agent('a', async () => {
      t.hg.feedback('thumbs', true, { comment: 'nice' })
      return t.hg.trace()
    })()
    t.hg.feedback('rating', 4, { trace: 'f'.repeat(32), source: 'human' })
    await t.hg.flush()
    expect(t.exporter.feedback).toEqual([
      { project: 'test', traceId: trace, name: 'thumbs', value: true, comment: 'nice', source: 'user', at: expect.any(String) },
      { project: 'test', traceId: 'f'.repeat(32), name: 'rating', value: 4, source: 'human', at: expect.any(String) },
    ])
  })

  it('count feedback that is about nothing as dropped, and say so once', async () => {
    await using t = await setUp(['ok'])
    const warnings: string[] = []
    const listen = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    await t.hg.session({ id: 's' }, async () => t.hg.feedback('thumbs', true))
    t.hg.feedback('thumbs', false)
    await t.hg.flush()
    await new Promise(setImmediate)
    expect([t.exporter.feedback, t.hg.stats().droppedFeedback, warnings]).toEqual([
      [],
      2,
      [
        'homeground: feedback thumbs was given outside a run and names no trace: it is left out. Pass { trace }, as hg.trace() gave it inside the run.',
      ],
    ])
  })
})

describe('in a replay', () => {
  it('the seam answers model calls, tools, reads, variants, clock and dice; nothing runs live, and the spans go to the rollout', async () => {
    await using t = await setUp([])
    const asked: unknown[] = []
    const spans: SpanRecord[] = []
    let turn = 0
    const seam = {
      model: async (request: SeamModelRequest) => {
        asked.push([request.api, request.method, JSON.parse(request.body ?? '').model, request.agents])
        turn += 1
        const message =
          turn === 1
            ? {
                role: 'assistant',
                content: null,
                tool_calls: [{ id: 'c9', type: 'function', function: { name: 'refund', arguments: '{"order":"7"}' } }],
              }
            : { role: 'assistant', content: 'Replayed.' }
        return Response.json({
          id: `r${turn}`,
          model: 'big',
          choices: [{ index: 0, message, finish_reason: turn === 1 ? 'tool_calls' : 'stop' }],
        })
      },
      tool: async ({ live, ...call }: SeamToolCall) => {
        asked.push(call)
        Object.assign(call, {})
        return { refunded: 'from the tape' }
      },
      io: async () => 'taped',
      variant: (name: string) => (name === 'model' ? 'big' : undefined),
      now: () => 1000,
      random: () => 0.25,
    }
    expect(seamHandshake()).toBe(true)
    const state = {
      attributes: { 'homeground.replay.arm': 'b' },
      traceId: 'a'.repeat(32),
      record: (span: SpanRecord) => void spans.push(span),
    }
    const result = await withSeam({ seam, state }, async () => [
      await t.agent('Refund 7'),
      await t.hg.io('profile', () => 'live'),
      t.hg.now(),
      t.hg.random(),
    ])
    await t.hg.flush()
    expect(result).toEqual(['Replayed.', 'taped', 1000, 0.25])
    expect(asked).toEqual([
      ['openai.chat', 'POST', 'big', ['support']],
      { name: 'refund', arguments: { order: '7' }, callId: 'c9', effect: 'write', agents: ['support'] },
      ['openai.chat', 'POST', 'big', ['support']],
    ])
    expect(t.got).toEqual([])
    expect(t.server.requests).toEqual([])
    expect(t.exporter.spans).toEqual([])
    expect(spans.map(({ name, traceId, attributes }) => [name, traceId, attributes['homeground.replay.arm']])).toEqual(
      ['chat big', 'execute_tool refund', 'chat big', 'invoke_agent support', 'io profile', 'io now', 'io random'].map((name) => [
        name,
        'a'.repeat(32),
        'b',
      ]),
    )
  })

  it('errors of the tape reach the model as the function’s own would, and an aborted rollout stops the product', async () => {
    await using t = await setUp([refund('7'), 'I see.'])
    const spans: SpanRecord[] = []
    const state = { attributes: {}, record: (span: SpanRecord) => void spans.push(span) }
    const tool = async (call: SeamToolCall) => {
      call.offTape = 'error'
      throw new Error('not on tape')
    }
    expect(await withSeam({ seam: { tool }, state }, () => t.agent('?'))).toBe('I see.')
    expect(toolMessages(t.server.requests[1])).toEqual(['Error: not on tape'])
    expect(spans.find(({ name }) => name === 'execute_tool refund')?.attributes).toMatchObject({
      'homeground.replay.off_tape': 'error',
      'error.type': 'Error',
    })
    const signal = AbortSignal.abort(new Error('time is up'))
    await expect(withSeam({ seam: {}, state, signal }, () => t.agent('?'))).rejects.toThrow()
  })
})
