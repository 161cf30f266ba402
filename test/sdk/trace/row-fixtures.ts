// Rows for tests: row N starts at N milliseconds and lasts one.
import type { SpanRow } from '@homeground/sdk/trace'

export const trace = 'ab'.repeat(16)

export function spanId(id: number): string {
  return id.toString(16).padStart(16, '0')
}

export function row(id: number, given: Partial<SpanRow> = {}): SpanRow {
  const startTimeUnixNano = given.startTimeUnixNano ?? BigInt(id) * 1_000_000n
  return {
    project: 'shop',
    traceId: trace,
    spanId: spanId(id),
    parentSpanId: '',
    kind: 'other',
    name: `span ${id}`,
    startTimeUnixNano,
    endTimeUnixNano: startTimeUnixNano + 1_000_000n,
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
