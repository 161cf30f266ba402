// A span that has begun, and the record that it becomes when it has ended.
import { withoutKeys } from '../privacy/key-patterns.ts'
import { genAi, homeground as names } from '../trace/attributes.ts'
import type { Attributes, SpanRecord } from '../trace/span.ts'
import type { Frame } from './context.ts'
import type { StartedHostSpan } from './host-telemetry.ts'
import { nodeCrypto } from './late-modules.ts'

/** OTLP's SpanKind. */
export const spanKind = { internal: 1, client: 3 } as const

/** The error of what was at work when its recorder ended. */
export const leftOpen = { type: 'shutdown', message: 'the process ended, or homeground was shut down, before this did' }

/** A span that has begun. `attributes` may be filled until it is delivered. */
export interface OpenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** An agent's span has its own frame here, so that it carries its own session and variants. */
  frame: Frame | undefined
  readonly hostSpan: StartedHostSpan | undefined
  readonly startMs: number
  readonly kind: 1 | 3
  name: string
  endMs: number | undefined
  attributes: Attributes
  error: { type: string; message: string } | undefined
  /** Ends it with what is known, where its work outlives the recorder. @default it ends with `leftOpen` */
  leave?: () => void
}

/** What leaves the process of a span that has ended. Without `content`, errors go without their messages, and long values of variants (prompts) as digests. */
export function spanRecord(
  span: OpenSpan,
  origin: Pick<SpanRecord, 'resource' | 'scope'>,
  content: boolean,
  secrets: readonly string[] = [],
): SpanRecord {
  const { frame } = span
  // Messages of errors say addresses, and those may hold keys.
  const error =
    span.error === undefined ? undefined : { type: span.error.type, message: content ? withoutKeys(span.error.message, secrets) : '' }
  const attributes = span.attributes
  if (frame?.session !== undefined) {
    attributes[genAi.sessionId] = frame.session
    attributes[genAi.conversationId] = frame.session
  }
  if (frame?.user !== undefined) attributes[genAi.userId] = frame.user
  for (const [key, value] of Object.entries(frame?.tags ?? {})) attributes[names.tag + key] = value
  for (const [key, value] of Object.entries(frame?.run?.variants ?? {}))
    attributes[names.variant + key] = content ? value : variantName(value)
  Object.assign(attributes, frame?.replay?.state.attributes)
  if (error !== undefined) {
    attributes[genAi.errorType] = error.type
    if (error.message !== '') attributes[names.errorMessage] = error.message
  }
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs ?? span.startMs),
    attributes,
    status: error === undefined ? { code: 0 } : { code: 2, message: error.message },
    events: [],
    resource: origin.resource,
    scope: origin.scope,
  }
}

/** Words that stand for a variant, up to this many characters, say nothing that a digest would not. */
const longestName = 64

function variantName(value: string): string {
  if (value.length <= longestName) return value
  return `sha256:${nodeCrypto().createHash('sha256').update(value).digest('hex').slice(0, 16)}`
}

/** Ends the host's span that stands for ours, as ours ended. */
export function endHostSpan(span: StartedHostSpan, record: SpanRecord, endMs: number | undefined): void {
  span.updateName(record.name)
  for (const [key, value] of Object.entries(record.attributes)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') span.setAttribute(key, value)
    else if (Array.isArray(value))
      span.setAttribute(
        key,
        value.filter((item) => typeof item === 'string'),
      )
  }
  if (record.status.code === 2) span.setStatus({ code: 2, message: record.status.message ?? '' })
  span.end(endMs)
}

function nanoseconds(ms: number): bigint {
  // A double holds today's microseconds exactly, not its nanoseconds.
  return BigInt(Math.round(ms * 1000)) * 1000n
}
