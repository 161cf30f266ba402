import { genAi, homeground, normaliseSpan, type SpanRecord } from '@homeground/sdk/trace'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberedRow as row, spanId, traceOfNumbered as trace } from '../../support/span-rows.ts'

function span(given: Partial<SpanRecord> = {}): SpanRecord {
  return {
    traceId: trace,
    spanId: spanId(7),
    name: 'span 7',
    kind: 3,
    startTimeUnixNano: 7_000_000n,
    endTimeUnixNano: 8_000_000n,
    attributes: {},
    status: { code: 0 },
    events: [],
    resource: { [homeground.project]: 'shop' },
    scope: { name: '@homeground/sdk' },
    ...given,
  }
}
const resource = { [homeground.project]: 'shop' }

describe('normaliseSpan', () => {
  test('gives a model call of our SDK its columns, and leaves what it does not know beside them', () => {
    const attributes = {
      [genAi.operationName]: 'chat',
      [genAi.providerName]: 'openai',
      [genAi.requestModel]: 'gpt-4o',
      [genAi.responseModel]: 'gpt-4o-2024',
      [genAi.responseId]: 'r1',
      [genAi.responseFinishReasons]: ['stop', 'tool_calls'],
      [genAi.usageInputTokens]: 0,
      [genAi.usageOutputTokens]: 12n,
      [genAi.usageCacheReadInputTokens]: '4',
      [genAi.sessionId]: 's',
      [genAi.conversationId]: 'c',
      [genAi.userId]: 'u',
      [homeground.api]: 'openai.chat',
      [homeground.requestBody]: '{"a":"\\ud83d"}',
      [homeground.responseBody]: '{"b":1}',
      [homeground.firstChunkMs]: 1.5,
      [homeground.attempt]: 2,
      [homeground.partial]: true,
      [`${homeground.tag}plan`]: 'gold',
      [`${homeground.variant}prompt`]: 'short',
      [homeground.replayRun]: 'run-1',
      [homeground.replayRepeat]: 0,
      [genAi.requestTemperature]: 0.5,
      list: [1, 'a', null],
    }
    expect(normaliseSpan(span({ name: 'chat gpt-4o', parentSpanId: spanId(1), attributes }))).toEqual(
      row(7, {
        kind: 'model',
        name: 'chat gpt-4o',
        parentSpanId: spanId(1),
        session: 's',
        user: 'u',
        tags: { plan: 'gold' },
        variants: { prompt: 'short' },
        api: 'openai.chat',
        provider: 'openai',
        model: 'gpt-4o',
        responseModel: 'gpt-4o-2024',
        responseId: 'r1',
        finishReasons: ['stop', 'tool_call'],
        inputTokens: 0,
        outputTokens: 12,
        cacheReadTokens: 4,
        firstChunkMs: 1.5,
        attempt: 2,
        partial: true,
        requestBody: '{"a":"\\ud83d"}',
        responseBody: '{"b":1}',
        source: 'rollout',
        run: 'run-1',
        repeat: 0,
        attributes: { [genAi.requestTemperature]: '0.5', list: '[1,"a",null]', [genAi.conversationId]: 'c' },
        resource,
      }),
    )
  })

  test('tells agents, tools, reads and other spans', () => {
    const agent = {
      [genAi.operationName]: 'invoke_agent',
      [homeground.agentInput]: '"hi"',
      [homeground.agentOutput]: 'null',
      [genAi.conversationId]: 'c',
    }
    expect(normaliseSpan(span({ name: 'invoke_agent desk', attributes: agent }))).toEqual(
      row(7, { kind: 'agent', name: 'invoke_agent desk', agentName: 'desk', input: '"hi"', output: 'null', session: 'c', resource }),
    )
    const tool = {
      [genAi.operationName]: 'execute_tool',
      [genAi.toolName]: 'look',
      [genAi.toolCallId]: 'c1',
      [genAi.toolCallArguments]: '{}',
      [genAi.toolCallResult]: '"x"',
      [homeground.toolEffect]: 'read',
      [homeground.replayOffTape]: 'error',
    }
    expect(normaliseSpan(span({ attributes: tool }))).toEqual(
      row(7, { kind: 'tool', toolName: 'look', callId: 'c1', arguments: '{}', result: '"x"', effect: 'read', offTape: 'error', resource }),
    )
    const read = { [homeground.ioName]: 'profile', [homeground.ioKey]: '1', [homeground.ioResult]: '2' }
    expect(normaliseSpan(span({ attributes: read }))).toEqual(
      row(7, { kind: 'io', toolName: 'profile', arguments: '1', result: '2', resource }),
    )
    expect(normaliseSpan(span({ attributes: { 'http.route': '/x' } }))).toEqual(row(7, { attributes: { 'http.route': '/x' }, resource }))
  })

  test.each([
    ['the attribute', { attributes: { [genAi.errorType]: '429', [homeground.errorMessage]: 'slow' } }, '429', 'slow'],
    [
      'the exception event',
      {
        status: { code: 2 as const, message: 'x' },
        events: [{ name: 'exception', timeUnixNano: 0n, attributes: { 'exception.type': 'TypeError', 'exception.message': 'bad' } }],
      },
      'TypeError',
      'bad',
    ],
    ['the status alone', { status: { code: 2 as const, message: 'x' } }, '_OTHER', 'x'],
    [
      'nothing, for a caught exception',
      { events: [{ name: 'exception', timeUnixNano: 0n, attributes: { 'exception.type': 'TypeError' } }] },
      '',
      '',
    ],
  ])('takes the error from %s', (_, given, errorType, errorMessage) => {
    expect(normaliseSpan(span(given))).toMatchObject({ errorType, errorMessage })
  })

  test('saturates an end before the start and says so', () => {
    expect(normaliseSpan(span({ endTimeUnixNano: 3n }))).toMatchObject({ endTimeUnixNano: 7_000_000n, flags: ['end-before-start'] })
  })

  test.each([
    [{ [homeground.project]: 'p', 'service.name': 'kiosk' }, 'p'],
    [{ 'service.name': 'kiosk' }, 'kiosk'],
    [{ 'service.name': 'unknown_service:node' }, 'default'],
    [{}, 'default'],
  ])('puts a span of resource %j into project %s', (resource, project) => {
    expect(normaliseSpan(span({ resource })).project).toBe(project)
  })

  test('never throws, and every text of the row has a UTF-8 form', () => {
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.bigInt(),
      fc.boolean(),
      fc.uint8Array(),
      fc.constant(null),
      fc.array(fc.string()),
      fc.constant('\ud800'),
    )
    const names = [...Object.values(genAi), ...Object.values(homeground), '__proto__', 'toString']
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (attributes) => {
        const text = JSON.stringify(normaliseSpan(span({ attributes: attributes as never })), (_, inner) =>
          typeof inner === 'bigint' ? String(inner) : inner,
        )
        expect(text).not.toMatch(/\\ud[89a-f]/)
      }),
    )
  })
})
