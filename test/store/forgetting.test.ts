import { beforeAll, describe, expect, test } from 'vitest'
import { readEngineAddress, type Store } from '../../store/index.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'
import { until } from '../support/until.ts'

describe.skipIf(engineIsMissing)('forgetting and asking', { timeout: 120_000 }, () => {
  const engine = useEngine()
  let store: Store
  beforeAll(async () => {
    if (!engineIsMissing) store = await engine.openStore('forgetting')
  })

  async function query(sql: string): Promise<unknown[]> {
    const address = readEngineAddress(`${engine.folder}/engine`)
    const headers = { 'X-ClickHouse-User': address?.user ?? '', 'X-ClickHouse-Key': address?.password ?? '' }
    const response = await fetch(`${address?.url}/?database=forgetting`, {
      method: 'POST',
      headers,
      body: sql.startsWith('SELECT') ? `${sql} FORMAT JSONEachRow` : sql,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown)
  }

  test('erases every version of a user’s traces from every table, names the environments that hold them, and leaves others alone', async () => {
    const of = (n: number, user: string, project = 'p') => spanRow({ project, traceId: traceId(n), spanId: spanId(1), user })
    await store.insertSpans([of(1, 'ann'), { ...of(1, ''), spanId: spanId(2) }, of(2, 'bob'), of(3, 'ann', 'other')])
    await store.insertSpans([{ ...of(1, 'ann'), name: 'again' }])
    const said = { project: 'p', stepId: '', name: 'thumb', value: true, comment: '', source: 'user', at: '2025-12-01T00:00:00.000Z' }
    await store.insertFeedback([
      { ...said, traceId: traceId(1) },
      { ...said, traceId: traceId(2) },
    ])
    await store.registerEnvironment({
      project: 'p',
      name: 'desk',
      hash: 'h1',
      folder: '/envs/desk',
      builtAt: '2025-12-02T00:00:00.000Z',
      traces: [traceId(1), traceId(2)],
    })
    await store.registerEnvironment({
      project: 'p',
      name: 'else',
      hash: 'h2',
      folder: '/envs/else',
      builtAt: '2025-12-02T00:00:00.000Z',
      traces: [traceId(2)],
    })
    const wanted = { traces: [traceId(1)], spans: 2, feedback: 1, environments: [{ name: 'desk', hash: 'h1', folder: '/envs/desk' }] }
    expect(await store.erasable({ project: 'p', user: 'ann' })).toEqual(wanted)
    expect(await store.erase({ project: 'p', user: 'ann' })).toEqual(wanted)
    for (const table of ['spans', 'span_heads', 'feedback', 'trace_days']) {
      expect(
        await query(`SELECT DISTINCT project, trace_id FROM ${table} WHERE project IN ('p', 'other') ORDER BY trace_id`),
        table,
      ).toEqual([{ project: 'p', trace_id: traceId(2) }, ...(table === 'feedback' ? [] : [{ project: 'other', trace_id: traceId(3) }])])
    }
    await expect(store.erase({ project: 'p' })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(store.erase({ project: 'p', user: 'a', trace: 'b' })).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  test('keeps a project’s rows for as many days as it is told, and those of other projects for ever', async () => {
    const old = 1_700_000_000_000_000_000n
    const rows = ["short'\\", 'long'].map((project) =>
      spanRow({ project, traceId: traceId(50), startTimeUnixNano: old, endTimeUnixNano: old }),
    )
    await store.insertSpans(rows)
    await store.setRetention("short'\\", 30)
    expect(await store.retentions()).toEqual([{ project: "short'\\", days: 30 }])
    await query('SELECT 1') // the mutation that applies the rule runs beside us
    const deadline = Date.now() + 30_000
    while ((await store.spans("short'\\", [traceId(50)])).length > 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await store.spans("short'\\", [traceId(50)])).toEqual([])
    expect((await store.spans('long', [traceId(50)])).length).toBe(1)
    await store.setRetention("short'\\", undefined)
    expect(await store.retentions()).toEqual([])
    // The other half of the table's TTL stays whatever is kept: without it no body would ever be stored in the long window.
    const made = await query("SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'spans'")
    expect(JSON.stringify(made)).toContain('RECOMPRESS CODEC(ZSTD(3, 24))')
  })

  test('keeps rows for a hundred years where it is told to, those of clocks that are ahead too, and none that are older', async () => {
    const year = 31_557_600_000_000_000n
    const at = (n: number, start: bigint) =>
      spanRow({ project: 'archive', traceId: traceId(n), startTimeUnixNano: start, endTimeUnixNano: start + 1n })
    await store.insertSpans([at(70, 57n * year), at(71, 270n * year), at(72, -65n * year)])
    const said = { project: 'archive', traceId: traceId(70), stepId: '', name: 'thumb', value: true, comment: '', source: 'user' }
    await store.insertFeedback([{ ...said, at: '2026-12-01T00:00:00.000Z' }])
    for (const days of [36_500, 99_999]) {
      await store.setRetention('archive', days)
      await until(
        async () => (await query('SELECT 1 FROM system.mutations WHERE NOT is_done')).length === 0,
        () => 'the rule is not applied yet',
        60_000,
      )
      const kept: Record<string, unknown[]> = {}
      for (const table of ['spans', 'span_heads', 'trace_days', 'feedback']) {
        await query(`OPTIMIZE TABLE ${table} FINAL`)
        kept[table] = await query(`SELECT trace_id FROM ${table} WHERE project = 'archive' ORDER BY trace_id`)
      }
      const [now, ahead, old] = [70, 71, 72].map((n) => ({ trace_id: traceId(n) }))
      // A Date knows nothing before 1970: that day is a day of the future.
      expect(kept, String(days)).toEqual({ spans: [now, ahead], span_heads: [now, ahead], trace_days: [now, ahead, old], feedback: [now] })
    }
    await store.setRetention('archive', undefined)
  })

  test('answers the usual questions by views: cost, latency, tool errors, bad feedback, and spans in the shape others read', async () => {
    const call = spanRow({
      project: 'q',
      traceId: traceId(60),
      spanId: spanId(1),
      model: 'gpt-4o-2024-08-06',
      inputTokens: 1_000_000,
      cacheReadTokens: 400_000,
      outputTokens: 100_000,
      session: 's',
    })
    await store.insertSpans([
      { ...call, firstChunkMs: 120 },
      { ...call, spanId: spanId(2), model: 'unheard-of' },
      spanRow({
        project: 'q',
        traceId: traceId(60),
        spanId: spanId(3),
        kind: 'tool',
        toolName: 'find',
        errorType: 'Error',
        errorMessage: 'no',
      }),
      spanRow({ project: 'q', traceId: traceId(60), spanId: spanId(4), kind: 'tool', toolName: 'find' }),
    ])
    await store.insertFeedback([
      {
        project: 'q',
        traceId: traceId(60),
        stepId: '',
        name: 'thumb',
        value: false,
        comment: '',
        source: 'user',
        at: '2025-12-01T00:00:00.000Z',
      },
    ])
    await store.setPrices([{ model: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 2.5, asOf: '2026-05-07' }])
    expect(
      await query("SELECT model, toUInt32(calls) AS calls, cost_usd FROM cost_by_model_and_day WHERE project = 'q' ORDER BY model"),
    ).toEqual([
      { model: 'gpt-4o', calls: 1, cost_usd: 3 },
      { model: 'unheard-of', calls: 1, cost_usd: null },
    ])
    expect(await query("SELECT tool, toUInt32(errors) AS errors, error_rate FROM tool_error_rates WHERE project = 'q'")).toEqual([
      { tool: 'find', errors: 1, error_rate: 0.5 },
    ])
    expect(
      await query("SELECT model, p50_ms, toString(first_chunk_p50_ms) AS first FROM latency_by_model WHERE project = 'q' ORDER BY model"),
    ).toEqual([
      { model: 'gpt-4o-2024-08-06', p50_ms: 1000, first: '120' },
      { model: 'unheard-of', p50_ms: 1000, first: null },
    ])
    expect(await query("SELECT session, toUInt32(bad_feedback) AS bad FROM sessions_with_bad_feedback WHERE project = 'q'")).toEqual([
      { session: 's', bad: 1 },
    ])
    expect(
      await query(
        `SELECT SpanName, StatusCode, StatusMessage, toUInt32(Duration / 1e6) AS ms, SpanAttributes['gen_ai.tool.name'] AS tool FROM otel_traces WHERE TraceId = '${traceId(60)}' AND SpanId = '${spanId(3)}'`,
      ),
    ).toEqual([{ SpanName: 'chat gpt-4o', StatusCode: 'Error', StatusMessage: 'no', ms: 1000, tool: 'find' }])
  })
})
