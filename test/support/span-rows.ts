// Span rows for tests: what is not said is empty.
import type { SpanRow } from '@homeground/sdk/trace'

/** A model call's row of project `shop`, 2025-12-01T14:40:00Z, one second long, unless told otherwise. */
export function spanRow(given: Partial<SpanRow> = {}): SpanRow {
  return {
    project: 'shop',
    traceId: 'a'.repeat(32),
    spanId: '1'.repeat(16),
    parentSpanId: '',
    kind: 'model',
    name: 'chat gpt-4o',
    startTimeUnixNano: 1_764_600_000_000_000_000n,
    endTimeUnixNano: 1_764_600_001_000_000_000n,
    session: '',
    user: '',
    agentName: '',
    agentVersion: '',
    tags: {},
    variants: {},
    errorType: '',
    errorMessage: '',
    api: '',
    provider: '',
    model: '',
    responseModel: '',
    responseId: '',
    finishReasons: [],
    attempt: 1,
    partial: false,
    requestBody: '',
    responseBody: '',
    toolName: '',
    callId: '',
    effect: '',
    arguments: '',
    result: '',
    offTape: '',
    input: '',
    output: '',
    source: 'trace',
    sourceRef: '',
    run: '',
    arm: '',
    task: '',
    repeat: -1,
    flags: [],
    attributes: {},
    resource: {},
    ...given,
  }
}

/** 16 hex digits of a small number. */
export function spanId(n: number): string {
  return n.toString(16).padStart(16, '0')
}

/** 32 hex digits of a small number. */
export function traceId(n: number): string {
  return n.toString(16).padStart(32, '0')
}
