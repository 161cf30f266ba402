// The examples of examples/frameworks, as a user runs them: a process of its own, the real packages, the published model server, a collector.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { type RecordedRequest, startModelServer } from '@homeground/sdk/testing'
import { assembleEpisodes, normaliseSpan, type SpanRecord, type Step } from '@homeground/sdk/trace'
import { describe, expect, it } from 'vitest'
import { decodeProtobufTraces } from '../../../collector/ingest/traces-protobuf.ts'

const folder = fileURLToPath(new URL('../../../examples/frameworks/', import.meta.url))

/** Asks for the tool once, then says what it found. */
function policy({ messages }: RecordedRequest) {
  const found = messages.flatMap(({ parts }) => parts).find((part) => part.type === 'tool_call_response')
  return found === undefined ? { toolCalls: [{ id: 'c1', name: 'find_order', arguments: { order: 7 } }] } : 'Order 7 is on its way.'
}

async function runExample(file: string, answer: Parameters<typeof startModelServer>[0], nodeOptions: readonly string[] = []) {
  await using model = await startModelServer(answer)
  const spans: SpanRecord[] = []
  const collector = http.createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      spans.push(...decodeProtobufTraces(Buffer.concat(parts)).spans)
      response.end()
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  const { NODE_ENV: _, ...environment } = process.env
  const child = spawn(process.execPath, [...nodeOptions, file], {
    cwd: folder,
    env: {
      ...environment,
      HOMEGROUND_ENDPOINT: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-secret',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { printed: '', said: '' }
  child.stdout.on('data', (data) => {
    output.printed += data
  })
  child.stderr.on('data', (data) => {
    output.said += data
  })
  await new Promise((resolve) => child.once('close', resolve))
  collector.close()
  const episodes = assembleEpisodes(
    spans.map((span) => normaliseSpan(span)),
    [],
  )
  return { ...output, episodes, spans }
}

function summary(step: Step): unknown {
  if (step.kind === 'model') return [step.model, step.response?.finishReasons, step.error]
  return step.kind === 'tool' ? [step.name, step.callId, step.arguments, step.result, step.effect] : step.kind
}

describe('the examples', () => {
  it.each(['vercel-ai', 'langchain', 'openai-agents', 'fetch'])(
    '%s: one episode with its model calls and its tool',
    { timeout: 120_000 },
    async (name) => {
      const { printed, said, episodes, spans } = await runExample(`${name}/main.mjs`, { policy })
      expect({ printed, said }).toEqual({ printed: 'Order 7 is on its way.\n', said: '' })
      expect(
        episodes.map(({ agent, session, input, output, steps }) => ({ agent, session, input, output, steps: steps.map(summary) })),
      ).toEqual([
        {
          agent: { name: 'support' },
          session: 'visit-1',
          input: 'Where is order 7?',
          output: 'Order 7 is on its way.',
          steps: [
            ['gpt-4o-mini', ['tool_call'], undefined],
            ['find_order', 'c1', { order: 7 }, { order: 7, status: 'on its way' }, 'read'],
            ['gpt-4o-mini', ['stop'], undefined],
          ],
        },
      ])
      expect(JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('sk-secret')
    },
  )

  it.each(['main.mjs', 'main.cjs'])('register: %s is recorded untouched', { timeout: 60_000 }, async (file) => {
    const { printed, said, episodes } = await runExample(`register/${file}`, { policy: () => 'On its way.' }, [
      '--import',
      '@homeground/sdk/register',
    ])
    expect({ printed, said }).toEqual({ printed: 'On its way.\n', said: '' })
    expect(episodes.map(({ steps }) => steps.map(summary))).toEqual([[['gpt-4o-mini', ['stop'], undefined]]])
  })
})
