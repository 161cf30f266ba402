// Span rows for tests: what is not said is empty.
import { emptyRow, type SpanRow } from '@homeground/sdk/trace'

/** A model call's row of project `shop`, 2025-12-01T14:40:00Z, one second long, unless told otherwise. */
export function spanRow(given: Partial<SpanRow> = {}): SpanRow {
  return {
    ...emptyRow(),
    project: 'shop',
    traceId: 'a'.repeat(32),
    spanId: '1'.repeat(16),
    kind: 'model',
    name: 'chat gpt-4o',
    startTimeUnixNano: 1_764_600_000_000_000_000n,
    endTimeUnixNano: 1_764_600_001_000_000_000n,
    ...given,
  }
}

/** Row number N: of no kind, starts at N milliseconds and lasts one. */
export function numberedRow(id: number, given: Partial<SpanRow> = {}): SpanRow {
  const startTimeUnixNano = given.startTimeUnixNano ?? BigInt(id) * 1_000_000n
  return {
    ...emptyRow(),
    project: 'shop',
    traceId: traceOfNumbered,
    spanId: spanId(id),
    name: `span ${id}`,
    startTimeUnixNano,
    endTimeUnixNano: startTimeUnixNano + 1_000_000n,
    ...given,
  }
}

/** The trace of `numberedRow`s. */
export const traceOfNumbered = 'ab'.repeat(16)

/** 16 hex digits of a small number. */
export function spanId(n: number): string {
  return n.toString(16).padStart(16, '0')
}

/** 32 hex digits of a small number. */
export function traceId(n: number): string {
  return n.toString(16).padStart(32, '0')
}
