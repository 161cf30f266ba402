// What providers really sent, through the real clients: what is recorded, and that the caller sees what it sees unwrapped.
import http from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { type Homeground, homeground } from '@homeground/sdk'
import { MemoryExporter } from '@homeground/sdk/testing'
import { assembleEpisodes, dialectOf, normaliseSpan } from '@homeground/sdk/trace'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StreamCase, streamCases } from '../../support/cases.ts'

const cases = streamCases()

const unhandled: unknown[] = []
const note = (error: unknown) => void unhandled.push(error)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.removeListener('unhandledRejection', note))

/** Serves one case; `cancelled` resolves when the client goes away before the end. */
async function serve({ response: { status, headers, chunks, body, end } }: StreamCase) {
  let gone: () => void
  const cancelled = new Promise<void>((resolve) => {
    gone = resolve
  })
  const server = http.createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) gone()
    })
    request.resume().on('end', async () => {
      response.writeHead(status, headers)
      if (chunks === undefined) {
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
        return
      }
      for (const chunk of chunks) {
        response.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk.base64, 'base64'))
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      if (end === 'reset') response.destroy()
      else if (end !== 'hold') response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    cancelled,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

interface EventStream extends AsyncIterable<unknown> {
  controller: AbortController
  tee(): [EventStream, EventStream]
}

/** Calls as the case says, by the vendor's client, and tells all that the caller saw. */
async function call(each: StreamCase, url: string, hg: Homeground | undefined) {
  const events: unknown[] = []
  const open = async (): Promise<EventStream> => {
    const options = { apiKey: 'k', maxRetries: 0, timeout: 10_000 }
    const request: never = structuredClone(each.request) as never
    if (each.api === 'anthropic.messages') {
      const client = new Anthropic({ ...options, baseURL: url })
      return (await (hg?.wrap(client) ?? client).messages.create(request)) as unknown as EventStream
    }
    const client = new OpenAI({ ...options, baseURL: `${url}/v1` })
    const { chat, responses } = hg?.wrap(client) ?? client
    return (await (each.api === 'openai.chat' ? chat.completions.create(request) : responses.create(request))) as unknown as EventStream
  }
  const read = async (stream: EventStream, into: unknown[]) => {
    for await (const event of stream) {
      into.push(event)
      if (into.length < 2) continue
      if (each.consume === 'break-after-2') break
      if (each.consume === 'throw') throw new Error('the caller’s own')
      if (each.consume === 'abort') stream.controller.abort()
    }
  }
  try {
    const stream = await open()
    if (each.consume !== 'tee') await read(stream, events)
    else {
      const halves = stream.tee()
      const other: unknown[] = []
      await Promise.all([read(halves[0], events), read(halves[1], other)])
      expect(other).toEqual(events)
    }
    return { events }
  } catch (error) {
    const { name, message, status, code, type } = error as { name: string; message: string; status?: number; code?: string; type?: string }
    return { events, error: { name, constructor: (error as object).constructor.name, message, status, code, type } }
  }
}

describe('a model call', () => {
  it.each(cases)('$id: $why', async (each) => {
    const server = await serve(each)
    const exporter = new MemoryExporter()
    const hg = homeground({ project: 'test', exporter })
    try {
      const bare = await call(each, server.url, undefined)
      const wrapped = await call(each, server.url, hg)
      expect(wrapped).toEqual(bare)
      if (each.expect.upstreamCancelled === true) await server.cancelled
      await expect.poll(async () => (await hg.flush()) && exporter.spans.length, { timeout: 3000 }).toBe(1)
      expect(hg.stats()).toMatchObject({ spans: 1, openSpans: 0, internalErrors: 0 })

      const [span] = exporter.spans
      const attributes = span?.attributes ?? {}
      const text = attributes['homeground.response.body']
      const recorded = typeof each.expect.responseBody === 'string' || text === undefined ? text : JSON.parse(String(text))
      expect(recorded).toEqual(each.expect.responseBody)
      const status = attributes['error.type'] !== undefined ? 'error' : attributes['homeground.partial'] === true ? 'partial' : 'ok'
      expect({ status, errorType: attributes['error.type'] }).toEqual({ status: each.expect.status, errorType: each.expect.errorType })
      expect(span?.status.code).toBe(each.expect.status === 'error' ? 2 : 0)

      if (dialectOf(each.api) === undefined) return
      const [episode] = assembleEpisodes(exporter.spans.map(normaliseSpan), [])
      const [step] = episode?.steps ?? []
      if (step?.kind !== 'model') throw new Error(`expected a model call, got ${step?.kind}`)
      if (each.expect.canonical === null) expect(step.response).toBeUndefined()
      else {
        const { outputs, finishReasons, usage } = each.expect.canonical
        expect(step.response?.outputs).toMatchObject(outputs)
        expect(step.response?.outputs.map(({ parts }) => parts.length)).toEqual(outputs.map(({ parts }) => parts.length))
        expect(step.response?.finishReasons).toEqual(finishReasons)
        expect(step.response?.usage).toEqual(usage)
      }
    } finally {
      await hg.shutdown()
      await server.close()
    }
    expect(unhandled).toEqual([])
  })

  it('has all 25 cases', () => expect(cases.length).toBeGreaterThanOrEqual(25))
})
