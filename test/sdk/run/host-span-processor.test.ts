// GenAI spans of other instrumentations, through the host's own provider and its real SDK.
import { homeground } from '@homeground/sdk'
import { MemoryExporter, startModelServer } from '@homeground/sdk/testing'
import { assembleEpisodes, normaliseSpan } from '@homeground/sdk/trace'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { AlwaysOffSampler, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  trace.disable()
  context.disable()
  propagation.disable()
})

type Options = Partial<Parameters<typeof homeground>[0]>

function start(options: Options = {}, processorOptions = {}, sdkOptions = {}) {
  const exporter = new MemoryExporter()
  const hosts = new InMemorySpanExporter()
  const hg = homeground({ project: 'test', exporter, ...options })
  const sdk = new NodeSDK({
    spanProcessors: [hg.spanProcessor(processorOptions), new SimpleSpanProcessor(hosts)],
    instrumentations: [],
    resourceDetectors: [],
    ...sdkOptions,
  })
  sdk.start()
  closing.push(
    () => sdk.shutdown(),
    () => hg.shutdown(),
  )
  return { exporter, hosts, hg, tracer: trace.getTracer('other-instrumentation') }
}

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 3 }

describe('the processor for a provider of the host’s', () => {
  it('sends GenAI spans of others, whole, and no other spans', async () => {
    const { exporter, tracer, hg } = start()
    tracer.startActiveSpan('request', (request) => {
      const span = tracer.startSpan('chat m', {
        kind: SpanKind.CLIENT,
        attributes: { ...chat, 'gen_ai.response.finish_reasons': ['stop'] },
      })
      span.addEvent('exception', { 'exception.type': 'Broken' })
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'broken' })
      span.end()
      request.end()
    })
    await hg.flush()
    const [span] = exporter.spans
    expect(exporter.spans).toHaveLength(1)
    expect(span).toMatchObject({
      name: 'chat m',
      kind: 3,
      attributes: { ...chat, 'gen_ai.response.finish_reasons': ['stop'] },
      status: { code: 2, message: 'broken' },
      events: [{ name: 'exception', attributes: { 'exception.type': 'Broken' } }],
      resource: { 'homeground.project': 'test' },
    })
    expect((span?.endTimeUnixNano ?? 0n) >= (span?.startTimeUnixNano ?? 1n)).toBe(true)
    expect(hg.stats()).toMatchObject({ spans: 1, openSpans: 0, internalErrors: 0 })
  })

  it('puts them under the agent that they ran in, though the host’s spans lie between, and with its session', async () => {
    const { exporter, hosts, tracer, hg } = start()
    const agent = hg.agent('a', async () => {
      await tracer.startActiveSpan('retriever', async (between) => {
        await tracer.startActiveSpan('chain', { attributes: { 'gen_ai.operation.name': 'invoke_workflow' } }, async (chain) => {
          await tracer.startActiveSpan('http', async (http) => {
            tracer.startSpan('chat m', { attributes: chat }).end()
            http.end()
          })
          chain.end()
        })
        between.end()
      })
    })
    await hg.session({ id: 's', user: 'u', tags: { plan: 'pro' } }, agent)
    await hg.flush()
    const found = Object.fromEntries(exporter.spans.map((span) => [span.name, span]))
    const top = found['invoke_agent a']
    expect(Object.keys(found).toSorted()).toEqual(['chain', 'chat m', 'invoke_agent a'])
    expect(found['chain']).toMatchObject({ traceId: top?.traceId, parentSpanId: top?.spanId })
    expect(found['chat m']).toMatchObject({
      traceId: top?.traceId,
      parentSpanId: found['chain']?.spanId,
      attributes: { 'session.id': 's', 'user.id': 'u', 'homeground.tag.plan': 'pro' },
    })
    const episodes = assembleEpisodes(
      exporter.spans.map((span) => normaliseSpan(span)),
      [],
    )
    expect(episodes.map((episode) => [episode.agent?.name, episode.session, episode.steps.map((step) => step.kind)])).toEqual([
      ['a', 's', ['agent', 'model']],
    ])
    expect(hosts.getFinishedSpans().every((span) => span.attributes['session.id'] === undefined)).toBe(true)
  })

  it('with provider: host each of our own spans is sent once, and nests among the others', async () => {
    const server = await startModelServer({ policy: () => 'ok' })
    closing.push(() => server.close())
    const { exporter, hosts, tracer, hg } = start({ provider: 'host', emitMessages: true })
    const client = hg.wrap(new OpenAI({ baseURL: server.url, apiKey: 'k' }))
    await hg.agent('a', async () => {
      await tracer.startActiveSpan('chain', { attributes: { 'gen_ai.operation.name': 'invoke_workflow' } }, async (chain) => {
        await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
        chain.end()
      })
    })()
    await hg.flush()
    expect(exporter.spans.map(({ name }) => name).toSorted()).toEqual(['chain', 'chat m', 'invoke_agent a'])
    const ours = hosts.getFinishedSpans().find(({ name }) => name === 'chat m')
    expect(JSON.parse(String(ours?.attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'ok' }], finish_reason: 'stop' },
    ])
    const agent = exporter.spans.find(({ name }) => name === 'invoke_agent a')
    expect(exporter.spans.find(({ name }) => name === 'chain')?.parentSpanId).toBe(agent?.spanId)
  })

  it('leaves out what the host’s sampler leaves out, and what sample leaves out', async () => {
    const off = start({}, {}, { sampler: new AlwaysOffSampler() })
    off.tracer.startSpan('chat m', { attributes: chat }).end()
    await off.hg.flush()
    expect(off.exporter.spans).toEqual([])
    for (const close of closing.splice(0)) await close()
    trace.disable()
    const none = start({ sample: 0 })
    none.tracer.startSpan('chat m', { attributes: chat }).end()
    await none.hg.flush()
    expect([none.exporter.spans, none.hg.stats().unsampled]).toEqual([[], 1])
  })

  it('without content keeps numbers and names, and no texts or events', async () => {
    const { exporter, tracer, hg } = start({ captureContent: false })
    const span = tracer.startSpan('chat m', {
      attributes: { ...chat, 'gen_ai.input.messages': '[{"secret":1}]', 'llm.prompts.0': 'secret' },
    })
    span.addEvent('gen_ai.user.message', { content: 'secret' })
    span.end()
    await hg.flush()
    expect(exporter.spans.map(({ attributes, events }) => [attributes, events])).toEqual([[chat, []]])
  })

  it('takes a filter of the product’s', async () => {
    const { exporter, tracer, hg } = start({}, { filter: (span: { name: string }) => span.name.startsWith('kept') })
    for (const name of ['kept', 'other']) tracer.startSpan(name, { attributes: chat }).end()
    await hg.flush()
    expect(exporter.spans.map(({ name }) => name)).toEqual(['kept'])
  })
})
