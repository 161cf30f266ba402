// Spans as the real packages make them, over HTTP: the conversation must come out as it does when our SDK records it.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '@homeground/sdk/testing'
import type { Episode, ModelCall, Step } from '@homeground/sdk/trace'
import { beforeAll, describe, expect, test } from 'vitest'
import { collectorOn, onlyEpisode } from '../../support/collector.ts'
import { engineIsMissing, useEngine } from '../../support/engine.ts'

const engine = useEngine()

async function recordedBy(who: string, mode = ''): Promise<Episode> {
  const store = await engine.openStore()
  const collector = await collectorOn(store)
  const server = await startModelServer({ script: [{ toolCalls: [{ name: 'look', arguments: { q: 'lamp' } }] }, 'A lamp.'] })
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const environment = {
    ...inherited,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  }
  try {
    await promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'record.mjs'), who, server.url, mode], { env: environment })
    return await onlyEpisode(store, who)
  } finally {
    await server.close()
    await collector.close()
  }
}

/** What a step says, without where and when it was: ids and times differ from run to run, and `api` names who recorded it. */
function said(step: Step): object {
  const { id: _id, parent: _parent, startedAt: _startedAt, durationMs: _durationMs, ...rest } = step
  if (rest.kind !== 'model') return rest
  const { api: _api, firstChunkMs: _firstChunkMs, ...call } = rest
  return call
}

function never(): never {
  throw new Error('a call without a response')
}

function modelCalls(episode: Episode): ModelCall[] {
  return episode.steps.filter((step) => step.kind === 'model')
}

describe.skipIf(engineIsMissing)('spans of the real packages', { timeout: 120_000 }, () => {
  let ours: Episode
  let oursStreamed: Episode
  beforeAll(async () => {
    ours = await recordedBy('homeground')
    oursStreamed = await recordedBy('homeground', 'stream')
  }, 120_000)

  test.each(['traceloop', 'openinference'])('of %s become the calls that our SDK records', async (who) => {
    const theirs = await recordedBy(who)
    expect(theirs.steps.map(said)).toEqual(ours.steps.map(said))
  })

  test('of traceloop become the calls that our SDK records of a stream, less what it does not write of one', async () => {
    const theirs = await recordedBy('traceloop', 'stream')
    const known = modelCalls(oursStreamed).map((call) => ({
      ...said(call),
      request: { ...call.request, parameters: { temperature: 0.5 } },
      response: { ...(call.response ?? never()), usage: {} },
    }))
    expect(theirs.steps.map(said)).toEqual(known)
  })

  test('are let go where our SDK has recorded the same calls in the same trace', async () => {
    const both = await recordedBy('both')
    expect(both.steps.map(said)).toEqual(ours.steps.map(said))
    expect(both.steps.map(({ parent }) => parent)).toEqual(ours.steps.map(({ parent }) => parent))
  })

  test('of openinference become the calls that our SDK records of a stream, less what it does not write of one', async () => {
    const theirs = await recordedBy('openinference', 'stream')
    const known = modelCalls(oursStreamed).map((call) => {
      const { id: _id, model: _model, ...response } = call.response ?? never()
      return { ...said(call), response: { ...response, usage: {} } }
    })
    expect(theirs.steps.map(said)).toEqual(known)
  })

  test('of the Vercel AI SDK become an agent with the calls and the tool that our SDK records', async () => {
    const theirs = await recordedBy('vercel-ai')
    expect({ agent: theirs.agent, session: theirs.session, output: theirs.output }).toEqual({
      agent: { name: 'desk' },
      session: 'session-1',
      output: 'A lamp.',
    })
    expect(theirs.steps.map(({ kind }) => kind)).toEqual(['model', 'tool', 'model'])
    // It writes 0 for what the provider did not count.
    const counted = modelCalls(ours).map((call) => {
      const response = call.response ?? never()
      return { ...said(call), response: { ...response, usage: { ...response.usage, cacheReadTokens: 0, reasoningTokens: 0 } } }
    })
    expect(modelCalls(theirs).map(said)).toEqual(counted)
    expect(theirs.steps.filter(({ kind }) => kind === 'tool').map(said)).toEqual([
      { kind: 'tool', name: 'look', callId: 'call_1', arguments: { q: 'lamp' }, result: 'found', effect: 'unknown' },
    ])
  })

  test('of OpenTelemetry’s own become the calls that our SDK records, with the messages that it writes into log records, less the tools', async () => {
    const theirs = await recordedBy('opentelemetry')
    const known = modelCalls(ours).map((call) => ({ ...said(call), request: { ...call.request, tools: [] } }))
    expect(theirs.steps.map(said)).toEqual(known)
  })
})
