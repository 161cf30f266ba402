// Looks in the store for what was acknowledged.
import type { Engine } from '../../store/index.ts'
import type { Ledger } from './load.ts'

export interface Outcome {
  acknowledged: number
  /** Acknowledged and not there, or there in an older revision. */
  lost: number
  /** Rows beyond one a span, after FINAL. */
  doubled: number
  /** Rows before FINAL: how much was in fact written twice or more. */
  written: number
}

/** Waits until nothing is missing, or nothing more has come for `quietMs`. */
export async function verify(engine: Engine, database: string, ledger: Ledger, quietMs: number): Promise<Outcome> {
  let best = Number.POSITIVE_INFINITY
  let since = performance.now()
  for (;;) {
    const found = await revisions(engine, database)
    let lost = 0
    for (const [span, revision] of ledger) if ((found.get(span) ?? 0) < revision) lost += 1
    if (lost < best) {
      best = lost
      since = performance.now()
    }
    if (lost === 0 || performance.now() - since > quietMs) {
      const [final = 0, distinct = 0, written = 0] = (
        await query(
          engine,
          `SELECT (SELECT count() FROM ${database}.spans FINAL), uniqExact(trace_id, span_id), count() FROM ${database}.spans`,
        )
      )
        .split('\t')
        .map(Number)
      return { acknowledged: ledger.size, lost, doubled: final - distinct, written }
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** Each span with the revision that a reader sees. */
async function revisions(engine: Engine, database: string): Promise<Map<string, number>> {
  const text = await query(engine, `SELECT concat(trace_id, span_id), attributes['revision'] FROM ${database}.spans FINAL`)
  return new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t'))
      .map(([span = '', revision = '0']) => [span, Number(revision)]),
  )
}

async function query(engine: Engine, sql: string): Promise<string> {
  for (let attempts = 0; ; attempts++) {
    const { url, user, password } = engine.address()
    try {
      const answer = await fetch(url, { method: 'POST', body: sql, headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password } })
      const text = (await answer.text()).trim()
      if (answer.ok) return text
      throw new Error(text)
    } catch (error) {
      if (attempts > 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 500))
      await engine.revive()
    }
  }
}
