// Two projects that are alike in every name that a query can ask by, in one trace too: only the project tells their rows apart. What is the other's says so in every text.
import type { FeedbackRow, SpanRow } from '@homeground/sdk/trace'
import type { Store } from '../../store/index.ts'
import { spanId, spanRow, traceId } from './span-rows.ts'

/** Stands in every text of the project `bank`, and in none of `shop`. */
export const secret = 'only-for-the-bank'

/** Of both projects. */
export const sharedTrace = traceId(0xabc1)
/** Of the bank alone. */
export const bankTrace = traceId(0xabc2)

/** What both projects' episodes are found by. */
export const alike = { agent: 'desk', model: 'gpt-4o', session: 's1', user: 'ann', tool: 'find', run: 'r1', source: 'trace' } as const

/** Puts both projects in: `shop` has one trace, `bank` the same one and another. */
export async function insertTwoProjects(store: Store): Promise<void> {
  await store.insertSpans([...rowsOf('shop', sharedTrace), ...rowsOf('bank', sharedTrace), ...rowsOf('bank', bankTrace)])
  await store.insertFeedback([thumbOf('shop', sharedTrace), thumbOf('bank', sharedTrace), thumbOf('bank', bankTrace)])
  await store.registerEnvironment({
    project: 'bank',
    name: secret,
    hash: 'b'.repeat(64),
    folder: `/envs/${secret}`,
    builtAt: '2025-12-02T00:00:00.000Z',
    traces: [sharedTrace, bankTrace],
  })
}

function rowsOf(project: 'shop' | 'bank', trace: string): SpanRow[] {
  const text = project === 'bank' ? secret : 'for everybody'
  const { agent, model, session, user, tool, run, source } = alike
  const shared = { project, traceId: trace, session, user, run, source, tags: { plan: 'pro', team: text }, attributes: { note: text } }
  const offset = project === 'bank' ? 4 : 0
  return [
    spanRow({ ...shared, spanId: spanId(1), kind: 'agent', name: `invoke_agent ${agent}`, agentName: agent, input: JSON.stringify(text) }),
    spanRow({
      ...shared,
      spanId: spanId(2 + offset),
      parentSpanId: spanId(1),
      model,
      api: 'openai.chat',
      requestBody: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
      responseBody: JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }] }),
    }),
    spanRow({
      ...shared,
      spanId: spanId(3 + offset),
      parentSpanId: spanId(1),
      kind: 'tool',
      name: `execute_tool ${tool}`,
      toolName: tool,
      arguments: '{"id":1}',
      result: JSON.stringify(text),
    }),
  ]
}

function thumbOf(project: 'shop' | 'bank', trace: string): FeedbackRow {
  const comment = project === 'bank' ? secret : ''
  return { project, traceId: trace, stepId: '', name: 'thumb', value: true, comment, source: 'user', at: '2025-12-01T15:00:00.000Z' }
}
