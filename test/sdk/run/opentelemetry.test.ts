// A guest in a process that has OpenTelemetry of its own.
import { startModelServer } from '@homeground/sdk/testing'
import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
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
