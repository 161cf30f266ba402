// Span rows as ClickHouse has them: one table of columns from which the insert statement, its bytes, the select list and the reader are made.
import type { RowKind, SpanRow } from '@homeground/sdk/trace'
import { z } from 'zod'
import { previews } from './previews.ts'
import type { RowBinaryWriter } from './row-binary.ts'
import { textMap } from './text-map.ts'
import type { ReceivedSpanRow } from './types.ts'

const kinds: Record<RowKind, number> = { other: 0, model: 1, tool: 2, io: 3, agent: 4 }

/** Column name and how a row's value is written. In the order of the insert. */
const columns: readonly (readonly [name: string, write: (to: RowBinaryWriter, row: SpanRow, received: bigint) => void])[] = [
  ['project', (to, row) => to.string(row.project)],
  ['trace_id', (to, row) => to.string(row.traceId)],
  ['span_id', (to, row) => to.string(row.spanId)],
  ['parent_span_id', (to, row) => to.string(row.parentSpanId)],
  ['kind', (to, row) => to.byte(kinds[row.kind])],
  ['name', (to, row) => to.string(row.name)],
  ['start_time', (to, row) => to.int64(row.startTimeUnixNano)],
  ['duration_ns', (to, row) => to.int64(row.endTimeUnixNano - row.startTimeUnixNano)],
  ['received_at', (to, _row, received) => to.int64(received)],
  ['session', (to, row) => to.string(row.session)],
  ['user', (to, row) => to.string(row.user)],
  ['agent_name', (to, row) => to.string(row.agentName)],
  ['agent_version', (to, row) => to.string(row.agentVersion)],
  ['tags', (to, row) => to.map(row.tags)],
  ['variants', (to, row) => to.map(row.variants)],
  ['error_type', (to, row) => to.string(row.errorType)],
  ['error_message', (to, row) => to.string(row.errorMessage)],
  ['api', (to, row) => to.string(row.api)],
  ['provider', (to, row) => to.string(row.provider)],
  ['model', (to, row) => to.string(row.model)],
  ['response_model', (to, row) => to.string(row.responseModel)],
  ['finish_reasons', (to, row) => to.strings(row.finishReasons)],
  ['input_tokens', (to, row) => to.nullableCount(row.inputTokens)],
  ['output_tokens', (to, row) => to.nullableCount(row.outputTokens)],
  ['cache_read_tokens', (to, row) => to.nullableCount(row.cacheReadTokens)],
  ['cache_write_tokens', (to, row) => to.nullableCount(row.cacheWriteTokens)],
  ['reasoning_tokens', (to, row) => to.nullableCount(row.reasoningTokens)],
  ['first_chunk_ms', (to, row) => to.nullableFloat64(row.firstChunkMs)],
  ['attempt', (to, row) => to.uint16(row.attempt)],
  ['partial', (to, row) => to.boolean(row.partial)],
  ['tool_name', (to, row) => to.string(row.toolName)],
  ['call_id', (to, row) => to.string(row.callId)],
  ['effect', (to, row) => to.string(row.effect)],
  ['off_tape', (to, row) => to.string(row.offTape)],
  ['source', (to, row) => to.string(row.source)],
  ['source_ref', (to, row) => to.string(row.sourceRef)],
  ['run', (to, row) => to.string(row.run)],
  ['arm', (to, row) => to.string(row.arm)],
  ['task', (to, row) => to.string(row.task)],
  ['repeat', (to, row) => to.int32(row.repeat)],
  ['flags', (to, row) => to.strings(row.flags)],
  ['attributes', (to, row) => to.map(row.attributes)],
  ['resource', (to, row) => to.map(row.resource)],
  [
    'input_preview, output_preview',
    (to, row) => {
      const { input, output } = previews(row)
      to.string(input)
      to.string(output)
    },
  ],
  [
    'bodies',
    (to, row) => to.strings([row.requestBody, row.responseBody, row.arguments, row.result, row.input, row.output, row.responseId]),
  ],
]

const writers = columns.map(([, write]) => write)

/** The statement that `writeSpanRow`'s bytes follow. */
export const insertSpansStatement = `INSERT INTO spans (${columns.map(([name]) => name).join(', ')}) FORMAT RowBinary`

/** `received`: microseconds since the epoch, the row's version. */
export function writeSpanRow(to: RowBinaryWriter, row: ReceivedSpanRow, received: bigint): void {
  const version = row.receivedAt ?? received
  for (const write of writers) write(to, row, version)
}

/** What to select so that `readSpanRow` finds all it needs. */
export const selectSpanColumns = [
  ...columns
    .flatMap(([name]) => name.split(', '))
    .filter((name) => !['start_time', 'received_at', 'input_preview', 'output_preview'].includes(name)),
  'toUnixTimestamp64Nano(start_time) AS start_ns',
].join(', ')

const count = z.coerce.number().nullable()
const spanSchema = z.object({
  project: z.string(),
  trace_id: z.string(),
  span_id: z.string(),
  parent_span_id: z.string(),
  kind: z.enum(['other', 'model', 'tool', 'io', 'agent']),
  name: z.string(),
  start_ns: z.string(),
  duration_ns: z.string(),
  session: z.string(),
  user: z.string(),
  agent_name: z.string(),
  agent_version: z.string(),
  tags: textMap,
  variants: textMap,
  error_type: z.string(),
  error_message: z.string(),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  response_model: z.string(),
  finish_reasons: z.array(z.string()),
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
  first_chunk_ms: z.number().nullable(),
  attempt: z.number(),
  partial: z.boolean(),
  tool_name: z.string(),
  call_id: z.string(),
  effect: z.string(),
  off_tape: z.string(),
  source: z.enum(['trace', 'rollout', 'import']),
  source_ref: z.string(),
  run: z.string(),
  arm: z.string(),
  task: z.string(),
  repeat: z.number(),
  flags: z.array(z.string()),
  attributes: textMap,
  resource: textMap,
  bodies: z.array(z.string()),
})

/** One object of a JSONEachRow answer, with 64-bit integers quoted. */
export function readSpanRow(value: unknown): SpanRow {
  const row = spanSchema.parse(value)
  const start = BigInt(row.start_ns)
  const [requestBody = '', responseBody = '', args = '', result = '', input = '', output = '', responseId = ''] = row.bodies
  return {
    project: row.project,
    traceId: row.trace_id,
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    kind: row.kind,
    name: row.name,
    startTimeUnixNano: start,
    endTimeUnixNano: start + BigInt(row.duration_ns),
    session: row.session,
    user: row.user,
    agentName: row.agent_name,
    agentVersion: row.agent_version,
    tags: row.tags,
    variants: row.variants,
    errorType: row.error_type,
    errorMessage: row.error_message,
    api: row.api,
    provider: row.provider,
    model: row.model,
    responseModel: row.response_model,
    responseId,
    finishReasons: row.finish_reasons,
    ...(row.input_tokens === null ? {} : { inputTokens: row.input_tokens }),
    ...(row.output_tokens === null ? {} : { outputTokens: row.output_tokens }),
    ...(row.cache_read_tokens === null ? {} : { cacheReadTokens: row.cache_read_tokens }),
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.reasoning_tokens === null ? {} : { reasoningTokens: row.reasoning_tokens }),
    ...(row.first_chunk_ms === null ? {} : { firstChunkMs: row.first_chunk_ms }),
    attempt: row.attempt,
    partial: row.partial,
    requestBody,
    responseBody,
    toolName: row.tool_name,
    callId: row.call_id,
    effect: row.effect,
    arguments: args,
    result,
    offTape: row.off_tape,
    input,
    output,
    source: row.source,
    sourceRef: row.source_ref,
    run: row.run,
    arm: row.arm,
    task: row.task,
    repeat: row.repeat,
    flags: row.flags,
    attributes: row.attributes,
    resource: row.resource,
  }
}
