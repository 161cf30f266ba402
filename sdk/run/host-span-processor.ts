// A span processor for the host's own OpenTelemetry provider: GenAI spans of other instrumentations go to the same collector, under the run that they belong
// to. It reads the host's spans and changes none of them. Our own spans with `provider: 'host'` pass by: they are recorded already, whole.
import { withoutKeys } from '../privacy/key-patterns.ts'
import { genAi, homeground as names } from '../trace/attributes.ts'
import type { Attributes, AttributeValue, SpanRecord } from '../trace/span.ts'
import { currentFrame, type Frame } from './context.ts'
import type { Recorder } from './recorder.ts'

/** What is read of a span of the host's: a part of `ReadableSpan`, of OpenTelemetry's SDK 1 and 2. */
export interface HostSpan {
  readonly name: string
  /** OpenTelemetry's SpanKind: 0 internal, 1 server, 2 client, … */
  readonly kind: number
  spanContext(): { traceId: string; spanId: string; traceFlags: number }
  readonly parentSpanContext?: { spanId: string; isRemote?: boolean }
  readonly parentSpanId?: string
  readonly startTime: [seconds: number, nanoseconds: number]
  readonly endTime: [seconds: number, nanoseconds: number]
  readonly status: { code: number; message?: string }
  readonly attributes: { readonly [name: string]: unknown }
  readonly events: readonly { name: string; time: [number, number]; attributes?: { readonly [name: string]: unknown } }[]
  readonly instrumentationScope?: { name: string }
  readonly instrumentationLibrary?: { name: string }
}

/** What `hg.spanProcessor` may be told. */
export interface HostSpanProcessorOptions {
  /** Which of the host's spans are sent. @default those with a GenAI attribute (`gen_ai.`, `ai.`, `llm.`, `openinference.`, `traceloop.`) */
  filter?: (span: HostSpan) => boolean
}

/** Fits `new NodeSDK({ spanProcessors: [hg.spanProcessor()] })` and every tracer provider of OpenTelemetry's. */
export interface HostSpanProcessor {
  onStart(span: HostSpan): void
  onEnd(span: HostSpan): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

/** Spans that have begun and not ended: a host that never ends some must not cost us memory. */
const maxOpen = 10_000

const contentNames: readonly string[] = [
  genAi.inputMessages,
  genAi.outputMessages,
  genAi.systemInstructions,
  genAi.toolDefinitions,
  genAi.toolCallArguments,
  genAi.toolCallResult,
]
const plainNames = new Set<string>(Object.values(genAi).filter((name) => !contentNames.includes(name)))

interface Open {
  span: HostSpan
  frame: Frame | undefined
}

export function hostSpanProcessor(recorder: Recorder, flush: () => Promise<unknown>, options: HostSpanProcessorOptions): HostSpanProcessor {
  const filter = options.filter ?? isGenAi
  const open = new Map<string, Open>()
  /** Nearest span above that is sent; undefined for a root. What the run has opened since is nearer than the host's. */
  const parentOf = (span: HostSpan, frame: Frame | undefined): string | undefined => {
    let id = parentIdOf(span)
    for (let above = find(open, id); above !== undefined; above = find(open, id)) {
      if (above.frame?.spanId !== frame?.spanId) break
      if (isOurs(above.span) || filter(above.span)) return id
      id = parentIdOf(above.span)
    }
    return frame?.spanId ?? id
  }
  return {
    onStart: (span) =>
      recorder.guard(() => {
        if (open.size >= maxOpen) open.delete(open.keys().next().value ?? '')
        open.set(span.spanContext().spanId, { span, frame: currentFrame() })
      }, undefined),
    onEnd: (span) =>
      recorder.guard(() => {
        const { traceId, spanId, traceFlags } = span.spanContext()
        const frame = open.get(spanId)?.frame
        const parentSpanId = parentOf(span, frame)
        open.delete(spanId)
        if ((traceFlags & 1) === 0 || isOurs(span) || !filter(span)) return
        const { resource, scope } = recorder.options
        const content = recorder.capturesContent(frame)
        recorder.deliverForeign(
          {
            traceId: frame?.traceId ?? traceId,
            spanId,
            ...(parentSpanId === undefined ? {} : { parentSpanId }),
            name: span.name,
            kind: span.kind + 1,
            startTimeUnixNano: nanoseconds(span.startTime),
            endTimeUnixNano: nanoseconds(span.endTime),
            attributes: { ...frameAttributes(frame), ...attributesOf(span.attributes, content) },
            status: { code: span.status.code === 2 ? 2 : span.status.code === 1 ? 1 : 0, message: span.status.message ?? '' },
            events: content ? span.events.map((event) => eventOf(event)) : [],
            resource,
            scope,
          },
          frame,
        )
      }, undefined),
    forceFlush: async () => void (await flush()),
    shutdown: async () => void (await flush()),
  }
}

function find(open: ReadonlyMap<string, Open>, id: string | undefined): Open | undefined {
  return id === undefined ? undefined : open.get(id)
}

function isOurs(span: HostSpan): boolean {
  return (span.instrumentationScope ?? span.instrumentationLibrary)?.name === '@homeground/sdk'
}

function isGenAi(span: HostSpan): boolean {
  return Object.keys(span.attributes).some((name) => /^(gen_ai|ai|llm|openinference|traceloop)\./.test(name))
}

function parentIdOf(span: HostSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? span.parentSpanId
}

function frameAttributes(frame: Frame | undefined): Attributes {
  const attributes: Attributes = {}
  if (frame?.session !== undefined) attributes[genAi.sessionId] = frame.session
  if (frame?.user !== undefined) attributes[genAi.userId] = frame.user
  for (const [key, value] of Object.entries(frame?.tags ?? {})) attributes[names.tag + key] = value
  return attributes
}

/** Without content: numbers, switches, and the conventions' texts that hold none. */
function attributesOf(given: { readonly [name: string]: unknown }, content: boolean): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(given)) {
    const whole = attributeValue(value)
    // Addresses may hold keys.
    const read = typeof whole === 'string' && /^(url|http)\./.test(name) ? withoutKeys(whole) : whole
    if (read !== undefined && (content || typeof read === 'number' || typeof read === 'boolean' || plainNames.has(name)))
      attributes[name] = read
  }
  return attributes
}

function attributeValue(value: unknown): AttributeValue | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return Array.isArray(value) ? value.map((item) => attributeValue(item) ?? null) : undefined
}

function eventOf(event: HostSpan['events'][number]): SpanRecord['events'][number] {
  return { name: event.name, timeUnixNano: nanoseconds(event.time), attributes: attributesOf(event.attributes ?? {}, true) }
}

function nanoseconds([seconds, rest]: [number, number]): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest)
}
