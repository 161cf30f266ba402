// What packages of other versions, and of other languages, sent: recorded from the real ones (test/cases/foreign), played over real HTTP. The conversation is always
// the same; what a package does not write of it is said beside its name.
import fs from 'node:fs'
import path from 'node:path'
import type { Episode, Message, ModelCall, Part } from '@homeground/sdk/trace'
import { describe, expect, test } from 'vitest'
import { collectorOn, onlyEpisode } from '../../support/collector.ts'
import { engineIsMissing, useEngine } from '../../support/engine.ts'

const engine = useEngine()
const folder = path.join(import.meta.dirname, '../../cases/foreign')

interface Recording {
  by: string
  requests: { path: string; json?: object; protobuf?: string }[]
}

async function played(name: string): Promise<Episode> {
  const { requests }: Recording = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'))
  const store = await engine.openStore()
  const collector = await collectorOn(store)
  try {
    // Backwards too: log records may come before the span that they belong to, and be sent again.
    for (const { path: route, json, protobuf } of [...requests, ...requests.toReversed()]) {
      const body = json === undefined ? Buffer.from(protobuf ?? '', 'base64') : JSON.stringify(json)
      const type = json === undefined ? 'application/x-protobuf' : 'application/json'
      const response = await fetch(`${collector.url}${route}`, { method: 'POST', headers: { 'content-type': type }, body })
      const answer = Buffer.from(await response.arrayBuffer()).toString('utf8')
      expect([response.status, answer.replace('{}', '')]).toEqual([200, ''])
    }
    return await onlyEpisode(store, name)
  } finally {
    await collector.close()
  }
}

/** A model call as a person would tell it. */
interface Told {
  asked: string[]
  tools: string[]
  parameters: object
  answered: string[]
  why: string[]
  usage: object
  by: string
}

function told({ provider, model, request, response }: ModelCall): Told {
  return {
    asked: request.messages.map(line),
    tools: request.tools.map(
      (tool) => `${tool.type} ${tool.name}: ${tool.description} ${Object.keys(Object(Object(tool.parameters).properties))}`,
    ),
    parameters: request.parameters,
    answered: (response?.outputs ?? []).map(line),
    why: response?.finishReasons ?? [],
    usage: response?.usage ?? {},
    by: `${provider} ${model} ${response?.model} ${response?.id}`,
  }
}

function line({ role, parts }: Message): string {
  return `${role}: ${parts.map(partText).join(' | ')}`
}

function partText(part: Part): string {
  if (part.type === 'text') return part.content
  if (part.type === 'tool_call') return `${part.name} ${JSON.stringify(part.arguments)} #${part.id}`
  if (part.type === 'tool_call_response') return `${JSON.stringify(part.response)} #${part.id}`
  return JSON.stringify(part)
}

const whole: [Told, Told] = [
  {
    asked: ['system: Be brief.', 'user: Find a lamp'],
    tools: ['function look: Looks q'],
    parameters: { temperature: 0.5 },
    answered: ['assistant: look {"q":"lamp"} #call_1'],
    why: ['tool_call'],
    usage: { inputTokens: 21, outputTokens: 24 },
    by: 'openai gpt-4o gpt-4o chatcmpl-1',
  },
  {
    asked: ['system: Be brief.', 'user: Find a lamp', 'assistant: look {"q":"lamp"} #call_1', 'tool: "found" #call_1'],
    tools: ['function look: Looks q'],
    parameters: { temperature: 0.5 },
    answered: ['assistant: A lamp.'],
    why: ['stop'],
    usage: { inputTokens: 71, outputTokens: 2 },
    by: 'openai gpt-4o gpt-4o chatcmpl-2',
  },
]

/** Of both calls. */
function but(change: (call: Told) => Partial<Told>): Told[] {
  return whole.map((call) => ({ ...call, ...change(call) }))
}

const withoutId = but(() => ({ by: 'openai gpt-4o gpt-4o undefined' }))
const counting = (extra: object) => but((call) => ({ usage: { ...call.usage, ...extra } }))
const edited = (calls: Told[], edit: (text: string) => string) =>
  calls.map((call) => ({ ...call, asked: call.asked.map(edit), answered: call.answered.map(edit) }))

const expected: Readonly<Record<string, Told[]>> = {
  // Neither ids of calls nor of the answer, nor the calls of earlier turns.
  'traceloop-js-0.12': edited(withoutId, (text) => text.replace('#call_1', '#undefined')).map((call) => ({
    ...call,
    asked: call.asked.map((text) => (text.startsWith('assistant') ? 'assistant: ' : text)),
  })),
  'traceloop-js-0.27-workflow': whole,
  'traceloop-python-0.33': withoutId,
  'traceloop-python-0.62': whole,
  'openinference-js-2.0': whole,
  'openinference-python-0.1.18': whole,
  'openinference-python-0.1.66': whole,
  // It asks with a schema of zod's, which the model server counts as more tokens.
  'openinference-langchain-4.1': but((call) => ({
    parameters: { temperature: 0.5, stream: false },
    usage: call.why[0] === 'stop' ? { inputTokens: 84, outputTokens: 2 } : { inputTokens: 27, outputTokens: 24 },
  })),
  'vercel-ai-4': whole,
  'vercel-ai-5': whole,
  // It writes 0 for what the provider did not count.
  'vercel-ai-7': counting({ cacheReadTokens: 0 }),
  'vercel-ai-7-legacy': counting({ cacheReadTokens: 0, reasoningTokens: 0 }),
  // Of tools it writes nothing.
  'opentelemetry-python-2.2': but(() => ({ tools: [] })),
  'opentelemetry-python-2.2-no-content': but(() => ({ tools: [], asked: [], answered: [] })),
  // A tool's result is the user's.
  'pydantic-ai-2.68': edited(whole, (text) => text.replace('tool: "found"', 'user: "found"')).map((call) => ({
    ...call,
    tools: ['function look: Looks q'],
  })),
  // The conversation is one text, the model's call is not in it, and every parameter that was not given is.
  'openlit-python-1.30': but((call) => ({
    asked: [`user: system: Be brief.\nuser: Find a lamp${call.why[0] === 'stop' ? '\nassistant: None\ntool: found' : ''}`],
    tools: [],
    answered: ['assistant: Function called with tools'],
    why: ['stop'],
    by: call.by.replace('gpt-4o gpt-4o', 'gpt-4o undefined'),
    parameters: {
      temperature: 0.5,
      top_p: 1,
      max_tokens: -1,
      user: '',
      presence_penalty: 0,
      frequency_penalty: 0,
      seed: '',
      is_stream: false,
    },
  })),
}

describe.skipIf(engineIsMissing)('recorded spans of the real packages', { timeout: 120_000 }, () => {
  test.each(Object.entries(expected))('%s', async (name, calls) => {
    const episode = await played(name)
    const models = episode.steps.filter((step) => step.kind === 'model')
    expect(models.map(told)).toEqual(calls)
  })

  test.each(['vercel-ai-4-stream', 'vercel-ai-5-stream', 'vercel-ai-7-stream'])('%s: the conversation of a stream', async (name) => {
    const models = (await played(name)).steps.filter((step) => step.kind === 'model')
    expect(models.map(told).map(({ asked, answered, why }) => ({ asked, answered, why }))).toEqual(
      whole.map(({ asked, answered, why }) => ({ asked, answered, why })),
    )
    for (const { firstChunkMs } of models) expect(firstChunkMs).toBeGreaterThan(0)
  })

  test('vercel-ai-4-embed: embeddings are a call that cost something', async () => {
    const episode = await played('vercel-ai-4-embed')
    expect(episode.steps).toMatchObject([
      { kind: 'model', provider: 'openai', model: 'text-embedding-3-small', response: { usage: { inputTokens: 1 } } },
    ])
  })

  test('tools and agents of each have their names, arguments and results', async () => {
    const of = async (name: string) => {
      const { agent, session, steps } = await played(name)
      const tools = steps.flatMap((step) => (step.kind === 'tool' ? [[step.name, step.callId, step.arguments, step.result]] : []))
      return { agent: agent?.name, session, tools }
    }
    const look = ['look', 'call_1', { q: 'lamp' }, 'found']
    expect({
      'vercel-ai-4': await of('vercel-ai-4'),
      'vercel-ai-7': await of('vercel-ai-7'),
      traceloop: await of('traceloop-js-0.27-workflow'),
      pydantic: { ...(await of('pydantic-ai-2.68')), session: undefined },
      // LangChain gives a tool of one field that field alone.
      langchain: await of('openinference-langchain-4.1'),
    }).toEqual({
      'vercel-ai-4': { agent: 'desk', session: 'session-1', tools: [look] },
      'vercel-ai-7': { agent: 'desk', session: undefined, tools: [look] },
      traceloop: { agent: 'desk', session: 'session-1', tools: [['look', undefined, { q: 'lamp' }, { found: true }]] },
      pydantic: { agent: 'desk', session: undefined, tools: [look] },
      langchain: { agent: undefined, session: 'session-1', tools: [['look', 'call_1', 'lamp', 'found']] },
    })
  })
})
