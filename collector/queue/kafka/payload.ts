// What a message's value is: some rows of one trace as JSON, each with the moment it was received, its version. Reading a message again gives the same rows with
// the same versions, so a batch that is inserted twice changes nothing.
import { z } from 'zod'
import { type ReceivedFeedbackRow, type ReceivedSpanRow, textMap } from '../../../store/index.ts'
import type { Outgoing } from './publisher.ts'

export type Payload = { kind: 'spans'; rows: ReceivedSpanRow[] } | { kind: 'feedback'; rows: ReceivedFeedbackRow[] }

/**
 * Rows as values, keyed by trace, of at most `maxBytes`, rows of a trace and project together and in order; a row that is larger than that has a larger value to itself.
 * `version`: microseconds since the epoch, larger at each call.
 */
export function encodeRows(
  kind: Payload['kind'],
  rows: readonly (ReceivedSpanRow | ReceivedFeedbackRow)[],
  maxBytes: number,
  version: () => bigint,
): Outgoing[] {
  const head = `{"format":1,"kind":"${kind}","rows":[`
  const encoded: Outgoing[] = []
  // By trace and project: a letter that is dropped for one project must hold nothing of another.
  const open = new Map<string, { trace: string; texts: string[]; bytes: number }>()
  const finish = (trace: string, texts: string[]) => encoded.push({ key: trace, value: Buffer.from(`${head}${texts.join(',')}]}`) })
  for (const row of rows) {
    const text = rowText(row, version)
    const bytes = Buffer.byteLength(text) + 1
    const together = row.traceId + row.project
    const waiting = open.get(together)
    if (waiting !== undefined && waiting.bytes + bytes <= maxBytes) {
      waiting.texts.push(text)
      waiting.bytes += bytes
      continue
    }
    if (waiting !== undefined) finish(row.traceId, waiting.texts)
    open.set(together, { trace: row.traceId, texts: [text], bytes: head.length + 2 + bytes })
  }
  for (const { trace, texts } of open.values()) finish(trace, texts)
  return encoded
}

/** A row that has a version already (a dead letter sent again) keeps it. */
function rowText(row: ReceivedSpanRow | ReceivedFeedbackRow, version: () => bigint): string {
  const receivedAt = String(row.receivedAt ?? version())
  if (!('spanId' in row)) return JSON.stringify({ ...row, receivedAt })
  const [startTimeUnixNano, endTimeUnixNano] = [String(row.startTimeUnixNano), String(row.endTimeUnixNano)]
  return JSON.stringify({ ...row, receivedAt, startTimeUnixNano, endTimeUnixNano })
}

/** @throws Error that says what is wrong, without content of the rows */
export function decodePayload(value: Buffer): Payload {
  let json: unknown
  try {
    json = JSON.parse(value.toString('utf8'))
  } catch {
    throw new Error('the value is no JSON')
  }
  const result = payloadSchema.safeParse(json)
  if (result.success) return result.data
  const format = z.object({ format: z.number() }).safeParse(json)
  if (format.success && format.data.format > 1) throw new Error(`the value has format ${format.data.format}, of a newer Homeground`)
  const issue = result.error.issues[0]
  throw new Error(`the value holds no rows: ${issue?.path.join('.') || 'value'}: ${issue?.message ?? 'unreadable'}`)
}

const integer = z
  .string()
  .regex(/^-?\d{1,19}$/, 'an integer as text')
  .transform(BigInt)
const count = z.number().exactOptional()

const spanRow = z.object({
  receivedAt: integer,
  project: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string(),
  kind: z.enum(['model', 'tool', 'io', 'agent', 'other']),
  name: z.string(),
  startTimeUnixNano: integer,
  endTimeUnixNano: integer,
  session: z.string(),
  user: z.string(),
  agentName: z.string(),
  agentVersion: z.string(),
  tags: textMap,
  variants: textMap,
  errorType: z.string(),
  errorMessage: z.string(),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  responseModel: z.string(),
  responseId: z.string(),
  finishReasons: z.array(z.string()),
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  firstChunkMs: count,
  attempt: z.number(),
  partial: z.boolean(),
  requestBody: z.string(),
  responseBody: z.string(),
  toolName: z.string(),
  callId: z.string(),
  effect: z.string(),
  arguments: z.string(),
  result: z.string(),
  offTape: z.string(),
  input: z.string(),
  output: z.string(),
  source: z.enum(['trace', 'rollout', 'import']),
  sourceRef: z.string(),
  run: z.string(),
  arm: z.string(),
  task: z.string(),
  repeat: z.number(),
  flags: z.array(z.string()),
  attributes: textMap,
  resource: textMap,
})

const feedbackRow = z.object({
  receivedAt: integer,
  project: z.string(),
  traceId: z.string(),
  stepId: z.string(),
  name: z.string(),
  value: z.union([z.number(), z.boolean(), z.string()]),
  comment: z.string(),
  source: z.string(),
  at: z.string(),
})

const payloadSchema = z.discriminatedUnion('kind', [
  z.object({ format: z.literal(1), kind: z.literal('spans'), rows: z.array(spanRow) }),
  z.object({ format: z.literal(1), kind: z.literal('feedback'), rows: z.array(feedbackRow) }),
])
