// Frameworks that stream: what arrives is what arrives without us, and the run is one episode whose agent ends when its stream does.
import { createOpenAI } from '@ai-sdk/openai'
import { homeground } from '@homeground/sdk'
import { MemoryExporter, startModelServer } from '@homeground/sdk/testing'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'

type Hg = ReturnType<typeof homeground>

const frameworks: Record<string, (hg: Hg, url: string) => (question: string) => AsyncGenerator<string>> = {
  'Vercel AI SDK': (hg, url) =>
    async function* (prompt) {
      yield* streamText({ model: createOpenAI({ baseURL: url, apiKey: 'k', fetch: hg.fetch })('m'), prompt }).textStream
    },
  'LangChain.js': (hg, url) =>
    async function* (prompt) {
      const model = new ChatOpenAI({ model: 'm', apiKey: 'k', configuration: { baseURL: url, fetch: hg.fetch } })
      for await (const chunk of await model.stream(prompt)) yield chunk.text
    },
  'OpenAI Agents SDK': (hg, url) =>
    async function* (prompt) {
      // The Agents SDK is typed for the openai that it brings; a client of 6 serves it as well.
      const openAIClient = hg.wrap(new OpenAI({ baseURL: url, apiKey: 'k' })) as never
      const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true })
      const result = await runner.run(new Agent({ name: 'a', model: 'm' }), prompt, { stream: true })
      for await (const part of result.toTextStream()) yield part
      await result.completed
    },
}

describe.each(Object.entries(frameworks))('%s', (_, make) => {
  it('streams recorded as it streams unrecorded', async () => {
    await using server = await startModelServer({ policy: () => 'It is on its way, and will be there tomorrow.' })
    const read = async (parts: AsyncIterable<string>) => {
      const all: string[] = []
      for await (const part of parts) if (part !== '') all.push(part)
      return all
    }
    const off = homeground({ project: 'test', enabled: false })
    const bare = await read(make(off, server.url)('Where is order 7?'))
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    const agent = hg.agent('support', make(hg, server.url))
    expect(await read(agent('Where is order 7?'))).toEqual(bare)
    await hg.shutdown()
    expect(bare.length).toBeGreaterThan(1)
    const [call, top] = exporter.spans
    expect(exporter.spans.map(({ name }) => name)).toEqual(['chat m', 'invoke_agent support'])
    expect(call).toMatchObject({ traceId: top?.traceId, parentSpanId: top?.spanId, status: { code: 0 } })
    expect(call?.attributes['homeground.partial']).toBeUndefined()
    expect(top?.attributes['homeground.agent.output']).toBe(JSON.stringify(bare.join('')))
    expect(hg.stats()).toMatchObject({ openSpans: 0, internalErrors: 0 })
  })
})
