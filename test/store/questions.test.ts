// What people ask in SQL: the dashboard's panels, the statements of the page, and the view that others' tools read, on a store with rows.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanId, spanRow, traceId } from '../support/span-rows.ts'

const docs = new URL('../../docs/', import.meta.url)
const panelSchema = z.object({ title: z.string(), targets: z.array(z.object({ rawSql: z.string() })) })
const dashboard = z
  .object({ panels: z.array(panelSchema), templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.string() })) }) })
  .parse(JSON.parse(fs.readFileSync(new URL('grafana-dashboard.json', docs), 'utf8')))

describe.skipIf(engineIsMissing)('questions in SQL', { timeout: 120_000 }, () => {
  const engine = useEngine()
  const start = 1_764_590_400_000_000_000n // 2025-12-01T12:00:00Z

  beforeAll(async () => {
    if (engineIsMissing) return
    const store = await engine.openStore('homeground')
    const at = { startTimeUnixNano: start, endTimeUnixNano: start + 1_000_000_000n, traceId: traceId(1), session: 's' }
    await store.insertSpans([
      spanRow({ ...at, spanId: spanId(1), model: 'gpt-4o', inputTokens: 1_000_000, outputTokens: 0 }),
      spanRow({ ...at, spanId: spanId(2), kind: 'tool', toolName: 'find', errorType: 'Error' }),
      spanRow({ ...at, spanId: spanId(3), project: 'other', model: 'gpt-4o', errorType: '500' }),
    ])
    await store.insertFeedback([
      {
        project: 'shop',
        traceId: traceId(1),
        stepId: '',
        name: 'thumb',
        value: false,
        comment: '',
        source: 'user',
        at: '2025-12-01T12:05:00.000Z',
      },
    ])
    await store.setPrices([{ model: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 2.5, asOf: '2026-05-07' }])
  })

  test('each panel of the Grafana dashboard shows this project’s rows, once the plug-in has put in the macros', async () => {
    const shown: Record<string, unknown[]> = {}
    for (const { title, targets } of dashboard.panels) {
      for (const { rawSql } of targets) shown[title] = await rows(withMacros(rawSql))
    }
    expect(shown).toEqual({
      'Cost by model and day': [{ time: '2025-12-01 00:00:00', model: 'gpt-4o', cost_usd: 2.5 }],
      'Latency by model': [{ model: 'gpt-4o', calls: 1, p50_ms: 1000, p90_ms: 1000, p99_ms: 1000 }],
      'Tool error rates': [{ tool: 'find', calls: 1, errors: 1, error_rate: 1 }],
      'Sessions with bad feedback': [{ session: 's', bad_feedback: 1, last_at: '2025-12-01 12:05:00.000', traces: [traceId(1)] }],
      'Spans by kind': [
        { time: '2025-12-01 12:00:00', kind: 'model', spans: 1 },
        { time: '2025-12-01 12:00:00', kind: 'tool', spans: 1 },
      ],
      'Errors by type': [{ error_type: 'Error', spans: 1 }],
    })
    expect(await Promise.all(dashboard.templating.list.filter(({ name }) => name === 'project').map(({ query }) => rows(query)))).toEqual([
      [{ project: 'other' }, { project: 'shop' }],
    ])
  })

  test('each statement of docs/questions.md runs as it stands, and finds rows where there are some', async () => {
    const page = fs.readFileSync(new URL('questions.md', docs), 'utf8')
    const statements = [...page.matchAll(/`(SELECT [^`]+)`/g)].map(([, statement = '']) => statement.replace('…', traceId(1)))
    expect(statements.length).toBe(5)
    for (const statement of statements) expect(await rows(statement), statement).not.toEqual([])
  })

  test('the command of docs/questions.md asks the embedded engine', () => {
    const [, commands = ''] = /```sh\n(.*?)```/s.exec(fs.readFileSync(new URL('questions.md', docs), 'utf8')) ?? []
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'homeground-questions-'))
    try {
      fs.symlinkSync(engine.folder, path.join(folder, '.homeground'))
      const { status, stdout, stderr } = spawnSync('sh', ['-c', commands], { cwd: folder, encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toMatch(/shop.*2025-12-01.*gpt-4o.*2\.5/)
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })

  test('otel_traces has the columns and types of the OpenTelemetry Collector’s ClickHouse exporter', async () => {
    const described = await rows('DESCRIBE TABLE homeground.otel_traces')
    const types = Object.fromEntries(described.map((row) => [row.name, String(row.type)]))
    // A view's strings are read alike whether they are coded as low cardinality or not, and times with their zone or without.
    const plain = (type: string) => type.replaceAll(/LowCardinality\((\w+)\)/g, '$1').replaceAll(", 'UTC'", '')
    expect(Object.fromEntries(Object.entries(types).map(([name, type]) => [name, plain(String(type))]))).toEqual({
      Timestamp: 'DateTime64(9)',
      TraceId: 'String',
      SpanId: 'String',
      ParentSpanId: 'String',
      TraceState: 'String',
      SpanName: 'String',
      SpanKind: 'String',
      ServiceName: 'String',
      ResourceAttributes: 'Map(String, String)',
      ScopeName: 'String',
      ScopeVersion: 'String',
      SpanAttributes: 'Map(String, String)',
      Duration: 'UInt64',
      StatusCode: 'String',
      StatusMessage: 'String',
      'Events.Timestamp': 'Array(DateTime64(9))',
      'Events.Name': 'Array(String)',
      'Events.Attributes': 'Array(Map(String, String))',
      'Links.TraceId': 'Array(String)',
      'Links.SpanId': 'Array(String)',
      'Links.TraceState': 'Array(String)',
      'Links.Attributes': 'Array(Map(String, String))',
    })
    // As Grafana's trace panel asks for one trace: duration in milliseconds, attributes as keys and values, times of events beside their names.
    const traced = await rows(
      `SELECT TraceId AS traceID, SpanId AS spanID, ParentSpanId AS parentSpanID, ServiceName AS serviceName, SpanName AS operationName, Timestamp AS startTime,
         multiply(Duration, 0.000001) AS duration, arrayMap(key -> map('key', key, 'value', SpanAttributes[key]), mapKeys(SpanAttributes)) AS tags,
         arrayMap(name -> tuple(name), \`Events.Name\`) AS logs, if(StatusCode IN ('Error', 'STATUS_CODE_ERROR'), 2, 0) AS statusCode
       FROM homeground.otel_traces WHERE traceID = '${traceId(1)}' AND SpanId = '${spanId(2)}'`,
    )
    expect(traced).toMatchObject([{ traceID: traceId(1), duration: 1000, statusCode: 2, startTime: '2025-12-01 12:00:00.000000000' }])
    expect(JSON.stringify(traced)).toContain('{"key":"gen_ai.tool.name","value":"find"}')
  })

  async function rows(sql: string): Promise<Record<string, unknown>[]> {
    const text = await engine.sql(`${sql} FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 0`, 'homeground')
    return text === '' ? [] : text.split('\n').map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
  }
})

/** What Grafana and its ClickHouse plug-in make of a panel's statement, for the project and the day of the rows. */
function withMacros(sql: string): string {
  return sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, '$1 >= toDateTime(1764547200) AND $1 <= toDateTime(1764633600)')
    .replaceAll(/\$__dateFilter\((\w+)\)/g, "$1 >= toDate('2025-12-01') AND $1 <= toDate('2025-12-02')")
    .replaceAll(/\$\{project\}/g, 'shop')
}
