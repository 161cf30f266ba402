// A store that the first schema made, with data in it, opened by this version.
import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { traceId } from '../support/span-rows.ts'

const migrations = new URL('../../store/migrations/', import.meta.url)

describe.skipIf(engineIsMissing)('migrations', { timeout: 120_000 }, () => {
  const engine = useEngine()

  test('bring a store of the first schema forward, and its rows answer as new ones do', async () => {
    const database = 'first'
    await engine.sql(`CREATE DATABASE ${database}`, 'default')
    const first = fs.readFileSync(new URL('0001-spans-and-feedback.sql', migrations), 'utf8').replaceAll(/^--.*$/gm, '')
    for (const statement of first.split(/;\s*$/m).filter((text) => text.trim() !== '')) await engine.sql(statement, database)
    await engine.sql(
      'CREATE TABLE schema_migrations (version UInt32, name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY version',
      database,
    )
    await engine.sql("INSERT INTO schema_migrations (version, name) VALUES (1, 'spans-and-feedback')", database)
    await engine.sql(
      `INSERT INTO spans (project, trace_id, span_id, kind, name, start_time, duration_ns, received_at, session, api, model, finish_reasons, input_tokens, output_tokens, attempt, source, repeat, bodies)
       VALUES ('shop', '${traceId(1)}', '${'1'.repeat(16)}', 'model', 'chat gpt-4o', '2025-12-01 14:40:00', 1000000, now64(6), 's', 'openai.chat', 'gpt-4o', ['stop'], 10, 2, 1, 'trace', -1,
         ['{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}', '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}', '', '', '', '', ''])`,
      database,
    )
    await engine.sql(
      `INSERT INTO feedback (project, trace_id, name, source, received_at, value_type, value_number, at) VALUES ('shop', '${traceId(1)}', 'thumb', 'user', now64(6), 'boolean', 0, '2025-12-01 15:00:00')`,
      database,
    )

    const store = await engine.openStore(database)
    const [episode] = await store.episode('shop', traceId(1))
    expect(episode?.steps.map((step) => (step.kind === 'model' ? step.response?.outputs : step))).toEqual([
      [{ role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] }],
    ])
    expect(episode?.feedback.map(({ name, value }) => ({ name, value }))).toEqual([{ name: 'thumb', value: false }])
    expect(await store.traces({ project: 'shop' })).toMatchObject([{ trace: traceId(1), session: 's', modelCalls: 1, inputTokens: 10 }])
    // Views of later steps see the old rows.
    expect(await engine.sql('SELECT project, session, bad_feedback FROM sessions_with_bad_feedback', database)).toBe('shop\ts\t1')
    expect(await engine.sql('SELECT count() FROM otel_traces', database)).toBe('1')
    const last = Math.max(...fs.readdirSync(migrations).map((name) => Number(name.slice(0, 4))))
    expect(await engine.sql('SELECT max(version) FROM schema_migrations', database)).toBe(String(last))
  })
})
