import { HomegroundError } from '@homeground/sdk/trace'
import { beforeAll, describe, expect, test } from 'vitest'
import { openStore, type Store } from '../../store/index.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'

const second = 1_000_000_000n
const noon = 1_764_590_400n * second // 2025-12-01T12:00:00Z

describe.skipIf(engineIsMissing)('a store', { timeout: 120_000 }, () => {
  const engine = useEngine()
  let store: Store
  beforeAll(async () => {
    if (!engineIsMissing) store = await engine.openStore()
  })

  test('gives every field of a span row back as it was', async () => {
    const full = spanRow({
      project: "sh'op\u0000\\",
      traceId: traceId(1),
      parentSpanId: spanId(9),
      name: 'chat "x"\n',
      startTimeUnixNano: noon + 123_456_789n,
      endTimeUnixNano: noon + 2n * second + 1n,
      session: 's-1',
      user: 'Zoë 👩‍🚀',
      agentName: 'desk',
      agentVersion: '1.2',
      tags: { plan: 'pro', __proto__x: '', 'a.b': "'; DROP TABLE spans; --" },
      variants: { prompt: 'B' },
      errorType: '429',
      errorMessage: 'slow down',
      api: 'openai.chat',
      provider: 'openai',
      model: 'gpt-4o',
      responseModel: 'gpt-4o-2024',
      responseId: 'r1',
      finishReasons: ['stop', 'tool_call'],
      inputTokens: 0,
      outputTokens: 4_294_967_296,
      cacheReadTokens: 3,
      cacheWriteTokens: 4,
      reasoningTokens: 5,
      firstChunkMs: 12.5,
      attempt: 2,
      partial: true,
      requestBody: `{"messages":[{"role":"user","content":"${'x'.repeat(300_000)}"}]}`,
      responseBody: '{"a":"\\ud800\u0000"}',
      toolName: 't',
      callId: 'c',
      effect: 'write',
      arguments: '{"n":9007199254740993}',
      result: 'null',
      offTape: 'error',
      input: '"hello"',
      output: '{"ok":true}',
      source: 'rollout',
      sourceRef: 'ref',
      run: 'run-1',
      arm: 'b',
      task: 'task-1',
      repeat: 2,
      flags: ['end-before-start'],
      attributes: { 'server.address': 'x' },
      resource: { 'service.name': 'desk' },
    })
    await store.insertSpans([full])
    expect(await store.spans(full.project, [traceId(1)])).toEqual([full])
  })

  test('gives a tag and an attribute back that are called as a member of every object is', async () => {
    const tags: Record<string, string> = JSON.parse('{"__proto__":"x","constructor":"y"}')
    await store.insertSpans([spanRow({ project: 'names', traceId: traceId(4), tags, attributes: tags })])
    const [row] = await store.spans('names', [traceId(4)])
    expect([Object.entries(row?.tags ?? {}), Object.entries(row?.attributes ?? {})]).toEqual([Object.entries(tags), Object.entries(tags)])
    expect(await store.traces({ project: 'names', tags })).toHaveLength(1)
  })

  test('keeps what is absent absent, and what an empty row holds empty', async () => {
    const empty = spanRow({ traceId: traceId(2) })
    await store.insertSpans([empty])
    const [row] = await store.spans('shop', [traceId(2)])
    expect(row).toEqual(empty)
    expect(row !== undefined && 'inputTokens' in row).toBe(false)
  })

  test('replaces a span that is sent again by the one received last, also when its start moved over a month’s end', async () => {
    const first = spanRow({ traceId: traceId(3), name: 'first', startTimeUnixNano: noon - 3n * 86_400n * second })
    const again = { ...first, name: 'again', startTimeUnixNano: noon, endTimeUnixNano: noon + second }
    await store.insertSpans([{ ...again, receivedAt: 2_000_000n }])
    await store.insertSpans([{ ...first, receivedAt: 1_000_000n }])
    expect((await store.spans('shop', [traceId(3)])).map(({ name }) => name)).toEqual(['again'])
    await store.insertSpans([{ ...first, name: 'last', receivedAt: 3_000_000n }])
    expect((await store.spans('shop', [traceId(3)])).map(({ name }) => name)).toEqual(['last'])
  })

  test('lets the span received last win though the clock was set back by an hour between the two', async () => {
    let at = Date.now()
    const other = await openStore({ folder: engine.folder, database: 'clock', environment: {}, now: () => at })
    await other.insertSpans([spanRow({ name: 'first' })])
    at -= 3_600_000
    await other.insertSpans([spanRow({ name: 'last' })])
    expect((await other.spans('shop', ['a'.repeat(32)])).map(({ name }) => name)).toEqual(['last'])
    await other.close()
  })

  test('takes spans of a hundred and fifty months, before 1970 and after 2100, in one insert', async () => {
    const month = 31n * 86_400n * second
    const rows = Array.from({ length: 150 }, (_, n) =>
      spanRow({ traceId: traceId(4), spanId: spanId(n + 1), startTimeUnixNano: BigInt(n) * month, endTimeUnixNano: BigInt(n) * month }),
    )
    rows.push(
      spanRow({
        traceId: traceId(4),
        spanId: spanId(200),
        startTimeUnixNano: 9_000_000_000n * second,
        endTimeUnixNano: 9_000_000_000n * second,
      }),
    )
    await store.insertSpans(rows)
    expect(await store.spans('shop', [traceId(4)])).toEqual(rows)
  })

  test('lists episodes newest first, with their sums and previews, and two for a trace with two agents', async () => {
    const agent = { project: 'list', kind: 'agent' as const, name: 'invoke_agent desk', agentName: 'desk' }
    await store.insertSpans([
      spanRow({
        ...agent,
        traceId: traceId(10),
        spanId: spanId(1),
        session: 's1',
        input: '"Where is my order?"',
        output: '"On its way."',
        startTimeUnixNano: noon,
        endTimeUnixNano: noon + 3n * second,
      }),
      spanRow({
        project: 'list',
        traceId: traceId(10),
        spanId: spanId(2),
        parentSpanId: spanId(1),
        model: 'gpt-4o',
        inputTokens: 10,
        outputTokens: 5,
        startTimeUnixNano: noon + second,
        endTimeUnixNano: noon + 2n * second,
      }),
      spanRow({
        project: 'list',
        traceId: traceId(10),
        spanId: spanId(3),
        parentSpanId: spanId(1),
        kind: 'tool',
        toolName: 'find',
        errorType: 'Error',
        startTimeUnixNano: noon + second,
        endTimeUnixNano: noon + 2n * second,
      }),
      spanRow({
        ...agent,
        traceId: traceId(11),
        spanId: spanId(1),
        startTimeUnixNano: noon + 60n * second,
        endTimeUnixNano: noon + 61n * second,
      }),
      spanRow({
        ...agent,
        traceId: traceId(11),
        spanId: spanId(2),
        startTimeUnixNano: noon - 40n * 86_400n * second,
        endTimeUnixNano: noon - 40n * 86_400n * second,
      }),
      spanRow({
        project: 'list',
        traceId: traceId(12),
        spanId: spanId(1),
        model: 'm2',
        requestBody: '{"messages":[{"role":"system","content":"S"},{"role":"user","content":"tell \\"me\\""}]}',
        responseBody: '{"choices":[{"message":{"role":"assistant","content":"no\\u00e9"}}]}',
        startTimeUnixNano: noon + 30n * second,
        endTimeUnixNano: noon + 31n * second,
      }),
    ])
    const none = {
      agent: 'desk',
      session: '',
      modelCalls: 0,
      toolCalls: 0,
      models: [],
      inputTokens: 0,
      outputTokens: 0,
      errors: 0,
      inputPreview: '',
      outputPreview: '',
    }
    expect(await store.traces({ project: 'list' })).toEqual([
      { ...none, trace: traceId(11), startedAt: '2025-12-01T12:01:00.000Z', durationMs: 1_000 },
      {
        ...none,
        trace: traceId(12),
        startedAt: '2025-12-01T12:00:30.000Z',
        durationMs: 1_000,
        agent: '',
        modelCalls: 1,
        models: ['m2'],
        inputPreview: 'tell "me"',
        outputPreview: 'noé',
      },
      {
        ...none,
        trace: traceId(10),
        startedAt: '2025-12-01T12:00:00.000Z',
        durationMs: 3_000,
        session: 's1',
        modelCalls: 1,
        toolCalls: 1,
        models: ['gpt-4o'],
        inputTokens: 10,
        outputTokens: 5,
        errors: 1,
        inputPreview: 'Where is my order?',
        outputPreview: 'On its way.',
      },
      { ...none, trace: traceId(11), startedAt: '2025-10-22T12:00:00.000Z', durationMs: 0 },
    ])
    expect((await store.traces({ project: 'list', limit: 1 })).map(({ trace }) => trace)).toEqual([traceId(11)])
    expect((await store.traces({ project: 'list', model: 'gpt-4o' })).map(({ trace }) => trace)).toEqual([traceId(10)])
    expect(
      (await store.traces({ project: 'list', from: '2025-12-01T12:00:10Z', to: '2025-12-01T12:01:00Z' })).map(({ trace }) => trace),
    ).toEqual([traceId(12)])
    expect(await store.counts('list')).toEqual([{ project: 'list', episodes: 4, modelCalls: 2, toolCalls: 1 }])
  })

  test('lists the next trace though the newest came in many pieces, and by what any of its spans is about', async () => {
    const agent = (trace: number, n: number, more: Parameters<typeof spanRow>[0]) =>
      spanRow({ project: 'pieces', traceId: traceId(trace), spanId: spanId(n), kind: 'agent', agentName: `a${n}`, ...more })
    const older = { startTimeUnixNano: noon, endTimeUnixNano: noon + second }
    await store.insertSpans([agent(80, 1, { ...older, user: 'u', tags: { plan: 'pro' }, run: 'r', source: 'rollout' })])
    await store.insertSpans([agent(81, 1, { ...older, kind: 'tool', toolName: 'look' })])
    const newer = { startTimeUnixNano: noon + 60n * second, endTimeUnixNano: noon + 61n * second }
    for (let n = 1; n <= 9; n++) await store.insertSpans([agent(82, n, { ...newer, parentSpanId: n === 1 ? '' : spanId(1) })])
    const traces = async (query: object) => (await store.traces({ project: 'pieces', ...query })).map(({ trace }) => trace)
    expect(await traces({ limit: 1 })).toEqual([traceId(82)])
    expect((await traces({ limit: 3 })).sort()).toEqual([traceId(80), traceId(81), traceId(82)])
    for (const query of [{ user: 'u' }, { tags: { plan: 'pro' } }, { run: 'r' }, { source: 'rollout' }, { agent: 'a1', user: 'u' }])
      expect(await traces(query), JSON.stringify(query)).toEqual([traceId(80)])
    expect(await traces({ tool: 'look' })).toEqual([traceId(81)])
    expect(await traces({ tool: 'other' })).toEqual([])
    expect(await traces({ user: 'u', run: 'other' })).toEqual([])
  })

  test('lists a trace without an agent with what its own calls say', async () => {
    const call = (n: number, content: string, answer: string) =>
      spanRow({
        project: 'loose',
        traceId: traceId(60),
        spanId: spanId(n),
        parentSpanId: n === 1 ? '' : spanId(1),
        kind: 'model',
        startTimeUnixNano: noon + BigInt(n) * second,
        endTimeUnixNano: noon + BigInt(n) * second + 500_000_000n,
        requestBody: JSON.stringify({ messages: [{ role: 'user', content }] }),
        responseBody: JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
      })
    await store.insertSpans([call(1, 'Hello', 'Hi'), call(2, 'Bye', 'So long')])
    expect(await store.traces({ project: 'loose' })).toMatchObject([
      { trace: traceId(60), modelCalls: 2, durationMs: 1_500, inputPreview: 'Hello', outputPreview: 'So long' },
    ])
  })

  test('finds episodes from and to any time that can be written, also where a Date of ClickHouse cannot say it', async () => {
    const ends = ['1905-01-01', '1970-01-01', '2026-12-03', '2120-01-01', '2240-01-01'].map((day) => `${day}T00:00:00.000Z`)
    await store.insertSpans(
      ends.map((at, n) => {
        const startTimeUnixNano = BigInt(Date.parse(at)) * 1_000_000n
        return spanRow({ project: 'ages', traceId: traceId(900 + n), startTimeUnixNano, endTimeUnixNano: startTimeUnixNano + second })
      }),
    )
    const both = async (query: { from?: string; to?: string }) => {
      const whole: string[] = []
      for await (const { startedAt } of store.episodes({ project: 'ages', ...query })) whole.push(startedAt)
      expect((await store.traces({ project: 'ages', ...query })).map(({ startedAt }) => startedAt)).toEqual(whole.toReversed())
      return whole
    }
    expect(await both({ from: '1900-01-01T00:00:00Z' })).toEqual(ends)
    expect(await both({ to: '9999-12-31T00:00:00Z' })).toEqual(ends)
    expect(await both({ from: '2026-01-01T00:00:00Z', to: '2200-01-01T00:00:00+02:00' })).toEqual(ends.slice(2, 4))
    expect(await both({ from: '2200-01-01T00:00:00Z' })).toEqual(ends.slice(4))
    const none = { code: 'invalid-argument', message: 'from=yesterday is no time' }
    await expect(both({ from: 'yesterday' })).rejects.toMatchObject(none)
    await expect(store.traces({ project: 'ages', from: 'yesterday' })).rejects.toMatchObject(none)
  })

  test('gives the rows and feedback of more traces than one statement takes, in order', async () => {
    const ids = Array.from({ length: 5_000 }, (_, n) => traceId(10_000 + n))
    const some = [...ids.entries()].filter(([n]) => n % 1_000 === 0)
    // The later a trace stands in the list, the earlier it was.
    await store.insertSpans(some.map(([n, id]) => spanRow({ project: 'many', traceId: id, startTimeUnixNano: noon - BigInt(n) * second })))
    const said = { project: 'many', stepId: '', name: 'thumb', value: true, comment: '', source: 'user' }
    await store.insertFeedback(some.map(([n, id]) => ({ ...said, traceId: id, at: new Date(1_764_590_400_000 - n).toISOString() })))
    const newestLast = some.map(([, id]) => id).toReversed()
    expect((await store.spans('many', ids)).map((row) => row.traceId)).toEqual(newestLast)
    expect((await store.feedback('many', ids)).map((row) => row.traceId)).toEqual(newestLast)
  })

  test('shows no project the rows of another', async () => {
    await store.insertSpans([
      spanRow({ project: 'mine', traceId: traceId(20) }),
      spanRow({ project: 'theirs', traceId: traceId(20), name: 'secret' }),
    ])
    expect((await store.spans('mine', [traceId(20)])).map(({ name }) => name)).toEqual(['chat gpt-4o'])
    expect((await store.traces({ project: 'mine' })).length).toBe(1)
    expect(await store.counts('mine')).toEqual([{ project: 'mine', episodes: 1, modelCalls: 1, toolCalls: 0 }])
    expect(await store.traces({ project: "mine' OR 1=1 --" })).toEqual([])
  })

  test('goes on after its engine was killed', async () => {
    await store.insertSpans([spanRow({ traceId: traceId(30) })])
    const { readAddress } = await import('../../store/embedded/address.ts')
    const { engineFolder } = await import('../../store/index.ts')
    const address = readAddress(engineFolder(engine.folder))
    process.kill(address?.pid ?? 0, 'SIGKILL')
    await store.insertSpans([spanRow({ traceId: traceId(31) })])
    expect(await store.spans('shop', [traceId(30), traceId(31)])).toHaveLength(2)
  })

  test('is migrated once, and refused by a version that knows less', async () => {
    await store.migrate()
    const again = await engine.openStore('newer')
    await again.close()
    await engine.sql("INSERT INTO schema_migrations (version, name) VALUES (9999, 'from the future')", 'newer')
    await expect(engine.openStore('newer')).rejects.toMatchObject({ code: 'store-newer', message: expect.stringContaining('9999') })
  })
})

test('names every setting at fault at once', async () => {
  const environment = { HOMEGROUND_CLICKHOUSE_URL: 'ftp://x', HOMEGROUND_CLICKHOUSE_DATABASE: 'a b' }
  const error = await openStore({ environment }).catch((thrown: unknown) => thrown)
  expect(HomegroundError.is(error) && error.code).toBe('invalid-settings')
  expect(String(error)).toContain('HOMEGROUND_CLICKHOUSE_URL')
  expect(String(error)).toContain('HOMEGROUND_CLICKHOUSE_DATABASE')
})

test('says store-unavailable when no server answers', async () => {
  await expect(openStore({ url: 'http://127.0.0.1:9', environment: {} })).rejects.toMatchObject({
    code: 'store-unavailable',
    retryable: true,
  })
})
