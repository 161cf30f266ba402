// A store that the first schema made, with data in it, opened by this version.
import fs from 'node:fs'
import { describe, expect, test } from 'vitest'
import { schemaStatements } from '../../store/migrate.ts'
import { engineIsMissing, useEngine } from '../support/engine.ts'
import { spanRow, traceId } from '../support/span-rows.ts'

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

  test('go on after the process was killed between any two of their statements', async () => {
    const statements = schemaStatements()
    // Written by the first schema, seen by every later one.
    const firstSchema = statements.findIndex((statement) => statement.includes('trace_days_from_spans')) + 1
    const insert = `INSERT INTO spans (project, trace_id, span_id, kind, name, start_time, received_at, model, attempt, source, repeat)
      SELECT 'shop', '${traceId(1)}', leftPad(toString(number), 16, '0'), 'model', 'chat', '2025-12-01 14:40:00', now64(6), 'm', 1, 'trace', -1 FROM numbers(5)`
    const wrong: string[] = []
    for (let done = firstSchema; done <= statements.length; done++) {
      // What is made where it is not there yet may come twice; each such kill would only take its time here.
      if (done > firstSchema && statements[done - 1]?.startsWith('CREATE')) continue
      const database = `killed${done}`
      await engine.sql(`CREATE DATABASE ${database}`, 'default')
      for (const [at, statement] of statements.slice(0, done).entries()) {
        await engine.sql(statement, database)
        if (at === firstSchema - 1) await engine.sql(insert, database)
      }
      // None of the steps is noted as done: the worst that a kill can leave.
      try {
        const store = await engine.openStore(database)
        const [trace] = await store.traces({ project: 'shop' })
        const [episode] = await store.episode('shop', traceId(1))
        if (trace?.modelCalls !== 5 || episode?.steps.length !== 5) wrong.push(`after ${statements[done - 1]}: ${JSON.stringify(trace)}`)
        await store.close()
      } catch (error) {
        wrong.push(`after ${statements[done - 1]}: ${String(error)}`)
      }
      await engine.sql(`DROP DATABASE ${database}`, 'default')
    }
    expect(wrong).toEqual([])
    expect(firstSchema).toBeGreaterThan(3)
  })

  test('are made by several commands that open a new store at the same time', async () => {
    for (const round of [1, 2, 3]) {
      const stores = await Promise.all([1, 2, 3].map(() => engine.openStore(`together${round}`)))
      await stores[0]?.insertSpans([spanRow({ traceId: traceId(1) })])
      expect((await stores[1]?.traces({ project: 'shop' }))?.map(({ trace }) => trace)).toEqual([traceId(1)])
    }
  })
})
