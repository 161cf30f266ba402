// A guest in a process that has OpenTelemetry of its own.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { homeground } from '@homeground/sdk'
import { startModelServer } from '@homeground/sdk/testing'
import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { recorded } from '../recorded.ts'

const messages = [{ role: 'user' as const, content: 'a secret prompt' }]
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  trace.disable()
  context.disable()
  propagation.disable()
})

async function host(options: { sampler?: TraceIdRatioBasedSampler } = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)], ...options })
  provider.register()
  closing.push(() => provider.shutdown())
  const server = await startModelServer({ policy: () => 'ok' })
  closing.push(() => server.close())
  return { exporter, server, tracer: trace.getTracer('host') }
}

const connect = (url: string) => new OpenAI({ baseURL: url, apiKey: 'k', maxRetries: 0 })

describe('beside the host’s OpenTelemetry', () => {
  it('spans carry the host’s trace and parent, and the host’s exporters see none of them', async () => {
    const { exporter: hostExporter, server, tracer } = await host()
    const { hg, exporter } = recorded()
    const client = hg.wrap(connect(server.url))
    const ids = await tracer.startActiveSpan('request', async (span) => {
      await hg.agent('a', async () => {
        await tracer.startActiveSpan('inner', async (inner) => {
          await client.chat.completions.create({ model: 'm', messages })
          inner.end()
        })
      })()
      span.end()
      return span.spanContext()
    })
    await hg.flush()
    const [call, agent] = exporter.spans
    expect(agent).toMatchObject({ name: 'invoke_agent a', traceId: ids.traceId, parentSpanId: ids.spanId })
    expect(call).toMatchObject({ name: 'chat m', traceId: ids.traceId, parentSpanId: agent?.spanId })
    expect(hostExporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes])).toEqual([
      ['inner', {}],
      ['request', {}],
    ])
  })

  it('bodies are whole whatever the host’s limits say, and its sampling does not apply', async () => {
    process.env['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'] = '10'
    process.env['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT'] = '2'
    closing.push(async () => {
      delete process.env['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT']
      delete process.env['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT']
    })
    const { server, tracer } = await host({ sampler: new TraceIdRatioBasedSampler(0) })
    const { hg, exporter } = recorded()
    await tracer.startActiveSpan(
      'request',
      async () => await hg.wrap(connect(server.url)).chat.completions.create({ model: 'm', messages }),
    )
    await hg.flush()
    expect(exporter.spans[0]?.attributes['homeground.request.body']).toBe(server.requests[0]?.text)
  })

  it('hg.trace() and feedback under the host’s span are about its trace; with no span and outside a run there is none', async () => {
    const { server, tracer } = await host()
    const { hg, exporter } = recorded()
    expect(hg.trace()).toBeUndefined()
    const trace = await tracer.startActiveSpan('request', async (span) => {
      await hg.wrap(connect(server.url)).chat.completions.create({ model: 'm', messages })
      hg.feedback('thumbs', true)
      span.end()
      return hg.trace()
    })
    await hg.flush()
    expect(trace).toMatch(/^[0-9a-f]{32}$/)
    expect([exporter.spans.map(({ traceId }) => traceId), exporter.feedback.map(({ traceId }) => traceId)]).toEqual([[trace], [trace]])
  })

  it('provider: host leaves out feedback of a run that the host’s sampler left out, and sends it later, when nobody knows', async () => {
    await host({ sampler: new TraceIdRatioBasedSampler(0) })
    const { hg, exporter } = recorded({ provider: 'host' })
    const trace = await hg.agent('a', async () => {
      hg.feedback('inside', true)
      return hg.trace()
    })()
    hg.feedback('later', true, { ...(trace === undefined ? {} : { trace }) })
    await hg.flush()
    expect([exporter.spans.length, exporter.feedback.map(({ name }) => name)]).toEqual([0, ['later']])
  })

  it('registers nothing global', async () => {
    const { hg } = recorded()
    await hg.agent('a', async () => expect(trace.getActiveSpan()).toBeUndefined())()
    expect(trace.getTracerProvider().getTracer('x').startSpan('y').isRecording()).toBe(false)
  })

  it('provider: host makes the host’s spans too, nested among its own, and obeys its sampling', async () => {
    const { exporter: hostExporter, server, tracer } = await host()
    const { hg, exporter } = recorded({ provider: 'host' })
    const client = hg.wrap(connect(server.url))
    await tracer.startActiveSpan('request', async (span) => {
      await hg.agent('a', async () => {
        tracer.startSpan('database').end()
        await client.chat.completions.create({ model: 'm', messages })
      })()
      span.end()
    })
    await hg.flush()
    const spans = hostExporter.getFinishedSpans()
    const id = (name: string) => spans.find((span) => span.name === name)?.spanContext().spanId
    expect(spans.map((span) => [span.name, span.parentSpanContext?.spanId])).toEqual([
      ['database', id('invoke_agent a')],
      ['request', undefined],
      ['chat m', id('invoke_agent a')],
      ['invoke_agent a', id('request')],
    ])
    expect(spans.find(({ name }) => name === 'chat m')?.attributes['homeground.request.body']).toBe(server.requests[0]?.text)
    expect(exporter.spans.map((span) => [span.name, span.spanId, span.parentSpanId])).toEqual([
      ['chat m', id('chat m'), id('invoke_agent a')],
      ['invoke_agent a', id('invoke_agent a'), id('request')],
    ])
  })

  it('provider: host records nothing that the host’s sampler leaves out', async () => {
    const { server, tracer } = await host({ sampler: new TraceIdRatioBasedSampler(0) })
    const { hg, exporter } = recorded({ provider: 'host' })
    await tracer.startActiveSpan(
      'request',
      async () => await hg.wrap(connect(server.url)).chat.completions.create({ model: 'm', messages }),
    )
    await hg.flush()
    expect(exporter.spans).toEqual([])
    expect(hg.stats()).toMatchObject({ unsampled: 1, openSpans: 0 })
  })
})

describe('the context of a run', () => {
  it('survives timers, emitters, generators and streams, and leaves the host’s AsyncLocalStorage alone', async () => {
    const { hg } = recorded()
    const hosts = new AsyncLocalStorage<string>()
    const seen = await hosts.run('mine', () =>
      hg.agent('a', async () => {
        const here = hg.trace()
        const emitter = new EventEmitter()
        const heard = new Promise((resolve) => emitter.once('event', () => resolve(hg.trace())))
        setTimeout(() => emitter.emit('event'), 1)
        async function* generate() {
          yield hg.trace()
        }
        const streamed: unknown[] = []
        const stream = ReadableStream.from(generate())
        for await (const item of stream) streamed.push(item)
        for await (const item of generate()) streamed.push(item)
        return [here, await heard, ...streamed, hosts.getStore()]
      })(),
    )
    expect(seen).toEqual([seen[0], seen[0], seen[0], seen[0], 'mine'])
    expect(seen[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(hg.trace()).toBeUndefined()
  })

  it('samples whole episodes: all spans of a trace or none', async () => {
    const { hg, exporter } = recorded({ sample: 0.5 })
    const tool = hg.tool({ name: 't', parameters: {}, execute: async () => 1 })
    for (let n = 0; n < 60; n += 1) await hg.agent('a', async () => await tool.execute({}))()
    await hg.flush()
    const traces = new Map<string, number>()
    for (const { traceId } of exporter.spans) traces.set(traceId, (traces.get(traceId) ?? 0) + 1)
    expect(traces.size).toBeGreaterThan(10)
    expect(traces.size).toBeLessThan(50)
    expect([...traces.values()].every((count) => count === 2)).toBe(true)
    expect(hg.stats().unsampled).toBe(120 - exporter.spans.length)
  })

  it('flush is over within its deadline, with false, where the exporter hangs', async () => {
    const hg = homeground({ project: 'test', exporter: { export: () => new Promise(() => {}) } })
    await hg.agent('a', async () => 1)()
    const before = performance.now()
    expect(await hg.flush(50)).toBe(false)
    expect(performance.now() - before).toBeLessThan(5000)
  })

  it('hands each delivery to waitUntil, one at a time', async () => {
    const waits: Promise<unknown>[] = []
    const { hg, exporter } = recorded({ waitUntil: (work) => void waits.push(work) })
    await hg.agent('a', async () => 1)()
    await expect.poll(() => waits.length).toBe(1)
    expect(await waits[0]).toBe(true)
    expect(exporter.spans).toHaveLength(1)
  })

  it('records no content where it is switched off, for all, an agent or by OpenTelemetry’s variable', async () => {
    const secret = (spans: readonly object[]) =>
      JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? Number(value) : value)).includes('secret')
    const run = async ({ hg, exporter }: ReturnType<typeof recorded>, options = {}) => {
      const { server } = await host()
      const tool = hg.tool({ name: 't', parameters: {}, execute: async () => 'secret' })
      const client = hg.wrap(connect(server.url))
      await hg.agent(
        'a',
        async (_: string) => {
          await tool.execute({ a: 'secret' })
          await client.chat.completions.create({ model: 'm', messages })
        },
        options,
      )('secret')
      await hg.flush()
      expect(exporter.spans).toHaveLength(3)
      return secret(exporter.spans)
    }
    expect(await run(recorded())).toBe(true)
    expect(await run(recorded({ captureContent: false }))).toBe(false)
    expect(await run(recorded(), { captureContent: false })).toBe(false)
    process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] = 'NO_CONTENT'
    const quiet = recorded()
    delete process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']
    expect(await run(quiet)).toBe(false)
  })

  it('without content errors go without their messages, and prompts under test as digests', async () => {
    const { hg, exporter } = recorded({ captureContent: false })
    const failing = hg.agent('a', async () => {
      hg.variant('prompt', `secret ${'x'.repeat(80)}`)
      hg.variant('tone', 'brief')
      throw new RangeError('secret')
    })
    await expect(failing()).rejects.toThrow('secret')
    await hg.flush()
    const [{ attributes, status } = { attributes: {}, status: {} }] = exporter.spans
    expect({ status, ...attributes }).toEqual({
      status: { code: 2, message: '' },
      'gen_ai.agent.name': 'a',
      'gen_ai.operation.name': 'invoke_agent',
      'error.type': 'RangeError',
      'homeground.variant.prompt': expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
      'homeground.variant.tone': 'brief',
    })
  })

  it.each([
    ...['true', 'SPAN_ONLY', 'span_and_event', ''].map((word) => ({ word, records: true })),
    ...['false', '0', 'off', 'no', 'NO_CONTENT', 'event_only', 'whatever'].map((word) => ({ word, records: false })),
  ])('OpenTelemetry’s variable set to "$word" means $records: what is not known is a no', async ({ word, records }) => {
    process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] = word
    const { hg, exporter } = recorded()
    delete process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']
    await hg.agent('a', async (_: string) => 1)('secret')
    await hg.flush()
    expect('homeground.agent.input' in (exporter.spans[0]?.attributes ?? {})).toBe(records)
  })

  it('no span ends before it began where the wall clock is set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { hg, exporter } = recorded()
    await hg.agent('a', async () => vi.setSystemTime(0))()
    await hg.flush()
    const [span] = exporter.spans
    expect(Number(span?.endTimeUnixNano) - Number(span?.startTimeUnixNano)).toBe(0)
  })
})
