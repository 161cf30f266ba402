// The schema on a cluster: the text of every statement, and a store on two shards that are real engines.
import { describe, expect, test } from 'vitest'
import { clusterStatements } from '../../store/cluster.ts'
import { openStore } from '../../store/index.ts'
import { schemaStatements } from '../../store/migrate.ts'
import { useCluster } from '../support/clickhouse-cluster.ts'
import { engineIsMissing } from '../support/engine.ts'
import { spanRow, traceId } from '../support/span-rows.ts'

const place = { cluster: 'main', database: 'homeground' }

test('every statement for a cluster is as the reviewed file says', async () => {
  const statements = schemaStatements().flatMap((statement) => clusterStatements(statement, place))
  await expect(`${statements.join(';\n\n')};\n`).toMatchFileSnapshot('cluster-schema.sql')
})

test('no statement that changes the schema is left to one server', () => {
  const statements = schemaStatements().flatMap((statement) => clusterStatements(statement, place))
  expect(statements.filter((statement) => /^(CREATE|ALTER|DROP)/.test(statement) && !statement.includes(" ON CLUSTER 'main'"))).toEqual([])
  expect(statements.filter((statement) => /^CREATE TABLE/.test(statement) && !/ENGINE = (Replicated|Distributed)/.test(statement))).toEqual(
    [],
  )
})

describe.skipIf(engineIsMissing)('a store on two shards', { timeout: 180_000 }, () => {
  const cluster = useCluster()
  const open = () => openStore({ environment: { HOMEGROUND_CLICKHOUSE_URL: cluster.url(), HOMEGROUND_CLICKHOUSE_CLUSTER: 'main' } })
  const ids = Array.from({ length: 40 }, (_, index) => traceId(index + 1))

  test('spreads traces, keeps each whole, answers every reader once, and forgets on every shard', async () => {
    const store = await open()
    try {
      const rows = ids.flatMap((id, index) => [
        spanRow({
          traceId: id,
          spanId: 'a'.repeat(16),
          kind: 'agent',
          name: 'invoke_agent desk',
          agentName: 'desk',
          session: `s${index}`,
          user: index < 20 ? 'ann' : 'bob',
        }),
        spanRow({
          traceId: id,
          spanId: 'b'.repeat(16),
          parentSpanId: 'a'.repeat(16),
          session: `s${index}`,
          user: index < 20 ? 'ann' : 'bob',
          model: 'gpt-4o',
          inputTokens: 10,
          outputTokens: 2,
        }),
      ])
      await store.insertSpans(rows)
      // Sent again, and a month later than before: still one.
      await store.insertSpans(
        rows.map((row) => ({
          ...row,
          startTimeUnixNano: row.startTimeUnixNano + 2_678_400_000_000_000n,
          endTimeUnixNano: row.endTimeUnixNano + 2_678_400_000_000_000n,
        })),
      )
      await store.insertFeedback(
        ids.map((id) => ({
          project: 'shop',
          traceId: id,
          stepId: '',
          name: 'thumb',
          source: 'user',
          value: false,
          comment: '',
          at: '2025-12-01T15:00:00.000Z',
        })),
      )
      const onShard = await Promise.all(
        ([0, 1] as const).map(async (shard) => Number(await cluster.sql(shard, 'SELECT uniqExact(trace_id) FROM spans_local'))),
      )
      expect(onShard.map((count) => count > 5)).toEqual([true, true])
      expect(onShard.reduce((sum, count) => sum + count, 0)).toBe(40)

      expect((await store.traces({ project: 'shop', limit: 100 })).length).toBe(40)
      expect((await store.spans('shop', ids)).length).toBe(80)
      expect((await store.feedback('shop', ids)).length).toBe(40)
      expect(await store.counts('shop')).toMatchObject([{ project: 'shop', episodes: 40 }])
      const episodes = []
      for await (const episode of store.episodes({ project: 'shop', user: 'ann', feedback: { name: 'thumb', value: false } }))
        episodes.push(episode)
      expect(episodes.length).toBe(20)
      await store.setPrices([{ model: 'gpt-4o', input: 1, output: 1, cacheRead: 0, cacheWrite: 0, asOf: '2026-01-01' }])
      for (const view of ['cost_by_model_and_day', 'latency_by_model', 'tool_error_rates', 'sessions_with_bad_feedback', 'otel_traces'])
        expect([view, Number(await cluster.sql(0, `SELECT count() > 0 FROM ${view} SETTINGS distributed_product_mode = 'local'`))]).toEqual(
          [view, view === 'tool_error_rates' ? 0 : 1],
        )
      expect(
        await cluster.sql(
          0,
          'SELECT sum(calls), round(sum(bad_feedback)) FROM cost_by_model_and_day, (SELECT sum(bad_feedback) AS bad_feedback FROM sessions_with_bad_feedback) AS said',
        ),
      ).toBe('40\t40')

      await store.registerEnvironment({
        project: 'shop',
        name: 'desk',
        hash: 'h',
        folder: '/envs/desk',
        builtAt: '2025-12-02T00:00:00.000Z',
        traces: ids.slice(0, 1),
      })
      expect(await store.erase({ project: 'shop', user: 'ann' })).toMatchObject({
        spans: 40,
        feedback: 20,
        environments: [{ name: 'desk' }],
      })
      for (const shard of [0, 1] as const)
        expect(
          await cluster.sql(
            shard,
            "SELECT (SELECT count() FROM spans_local WHERE user = 'ann') + (SELECT count() FROM span_heads_local WHERE user = 'ann')",
          ),
        ).toBe('0')
      expect((await store.traces({ project: 'shop', limit: 100 })).length).toBe(20)
      await store.insertSpans(rows.slice(0, 2))
      expect((await store.spans('shop', ids.slice(0, 1))).length).toBe(2)

      await store.setRetention('shop', 30)
      for (const shard of [0, 1] as const)
        for (const table of ['spans_local', 'span_heads_local', 'feedback_local', 'trace_days_local'])
          expect([
            table,
            await cluster.sql(
              shard,
              `SELECT create_table_query LIKE '%+ 2592000% WHERE project = ''shop''%' FROM system.tables WHERE database = 'homeground' AND name = '${table}'`,
            ),
          ]).toEqual([table, '1'])
      await store.setRetention('shop', undefined)
      expect(
        await cluster.sql(
          1,
          "SELECT create_table_query LIKE '%+ 2592000%' FROM system.tables WHERE database = 'homeground' AND name = 'feedback_local'",
        ),
      ).toBe('0')
    } finally {
      await store.close()
    }
  })

  test('is opened again, by two at a time, without a fault', async () => {
    const stores = await Promise.all([open(), open()])
    await Promise.all(stores.map((store) => store.migrate()))
    await Promise.all(stores.map((store) => store.close()))
    expect(cluster.onCluster.filter((statement) => statement.includes("'/clickhouse/tables/{shard}/homeground/spans_local'")).length).toBe(
      1,
    )
  })
})
