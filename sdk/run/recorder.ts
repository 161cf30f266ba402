// Makes spans and brings them to where they go, off the product's tick. A recorder of our own instead of an OpenTelemetry SDK: no limits that would cut a body,
// no exporter of the host's that would see a prompt. It never throws into the product.
import { setImmediate, setTimeout } from 'node:timers'
import type { SpanSink } from '../export/sink.ts'
import { withoutSecrets } from '../privacy/key-patterns.ts'
import type { Redaction } from '../privacy/redaction.ts'
import { homeground } from '../trace/attributes.ts'
import type { Json } from '../trace/episode.ts'
import type { Attributes, SpanRecord } from '../trace/span.ts'
import { ByteBudget } from './byte-budget.ts'
import type { Clock } from './clock.ts'
import { currentFrame, type Frame } from './context.ts'
import { errorOf } from './error-of.ts'
import { activeHostSpan, diag, type StartedHostSpan } from './host-telemetry.ts'
import type { Ids } from './ids.ts'
import { endHostSpan, leftOpen, type OpenSpan, spanRecord } from './open-span.ts'
import type { Stats } from './stats.ts'

/** How long ended spans wait for company before they are put together. */
const gatherMs = 20
/** So many spans that have not ended are known, to be recorded when the process ends before them; what never ends must not fill the memory. */
const maxKnownOpen = 10_000
const maxSecrets = 100
/** How long putting spans together may hold up the product's own work at a time. */
const turnMs = 2

export interface RecorderOptions {
  clock: Clock
  ids: Ids
  sink: SpanSink
  stats: Stats
  resource: Attributes
  scope: { name: string; version: string }
  captureContent: boolean
  /** Bytes of bodies that may be held at once until they are put together. @default 64 MiB */
  maxHeldBytes?: number
  /** Whether an episode is recorded, asked once for its first span. */
  sample: (traceId: string) => boolean
  /** With `provider: 'host'`: makes the host's spans that stand for ours. */
  tracer?: { startSpan(name: string, kind: 1 | 3): StartedHostSpan | undefined }
  /** After a span was handed to the sink. */
  delivered?: () => void
  /** Last change before a span leaves; `undefined` drops it. */
  finish?: (span: SpanRecord) => SpanRecord | undefined
  /** What `finish` redacts by: a replay is asked with redacted arguments, as its tape was recorded. */
  redaction?: Redaction
}

export class Recorder {
  readonly options: RecorderOptions
  readonly bodies: ByteBudget
  /** Keys of requests that failed lately: an error that repeats one goes up through agents and tools, and on to the model. */
  readonly secrets = new Set<string>()
  /** After its `shutdown()`. */
  over = false
  private readonly open = new Set<OpenSpan>()
  private jobs: (() => void)[] = []
  private scheduled = false

  constructor(options: RecorderOptions) {
    this.options = options
    this.bodies = new ByteBudget(options.maxHeldBytes ?? 64 * 1024 * 1024)
  }

  now(): number {
    return this.options.clock()
  }

  /** Begins a span under the current frame, else under the host's active span, else a new trace. */
  start(name: string, kind: 1 | 3, frame: Frame | undefined = currentFrame()): OpenSpan {
    const { ids, stats } = this.options
    const host = frame?.traceId === undefined ? activeHostSpan() : undefined
    const hostSpan =
      this.options.tracer !== undefined && frame?.replay === undefined ? this.options.tracer.startSpan(name, kind) : undefined
    stats.openSpans += 1
    const span: OpenSpan = {
      traceId: hostSpan?.spanContext().traceId ?? frame?.traceId ?? host?.traceId ?? ids.traceId(),
      spanId: hostSpan?.spanContext().spanId ?? frame?.replay?.state.spanId?.() ?? ids.spanId(),
      parentSpanId: frame?.traceId === undefined ? host?.spanId : frame.spanId,
      frame,
      hostSpan,
      startMs: this.now(),
      kind,
      name,
      endMs: undefined,
      attributes: {},
      error: undefined,
    }
    // A run that is replayed belongs to the replay, which knows its end.
    if (frame?.replay === undefined && this.open.size < maxKnownOpen) this.open.add(span)
    return span
  }

  /** Ends it, by default now; `fill` completes its attributes later, off the tick. Once a span. */
  end(span: OpenSpan, fill?: (span: OpenSpan) => void, endMs: number = this.now()): void {
    if (span.endMs !== undefined) return
    // The wall clock may have been set back meanwhile, by a test or by the network's time.
    span.endMs = Math.max(endMs, span.startMs)
    this.options.stats.openSpans -= 1
    this.open.delete(span)
    this.later(() => {
      // A span that lacks what could not be filled in says more than none.
      this.guard(() => fill?.(span), undefined)
      this.deliver(span)
    }, span.frame?.replay !== undefined)
  }

  /** Whether bodies, arguments and results may be recorded here. */
  capturesContent(frame: Frame | undefined): boolean {
    return frame?.captureContent ?? this.options.captureContent
  }

  /** The value as it would be recorded; as it is without redaction. */
  redacted(value: Json, path: string): Json {
    return this.options.redaction?.value(value, path) ?? value
  }

  /** The same few keys, for as long as a product uses them. */
  rememberSecrets(secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (this.secrets.size >= maxSecrets) this.secrets.clear()
      this.secrets.add(secret)
    }
  }

  /** Runs `job` on a later turn of the event loop, `soon` on the next one; what it throws is counted. */
  later(job: () => void, soon = false): void {
    this.jobs.push(job)
    // Several in one turn cost a fraction of one a turn. A serverless host must hear of the delivery before it freezes the process.
    if (soon || this.options.delivered !== undefined) setImmediate(() => this.work(turnMs))
    else if (!this.scheduled) setTimeout(() => this.work(turnMs), gatherMs)
    else return
    this.scheduled = true
  }

  /** The process ends, or nothing will be recorded any more: spans that are open end here, partial. */
  leaveOpen(): void {
    for (const span of this.open)
      this.guard(() => {
        span.attributes[homeground.partial] = true
        if (span.leave !== undefined) return span.leave()
        span.error = leftOpen
        this.end(span)
      }, undefined)
  }

  /** Does everything that is waiting, now. */
  drain(): void {
    while (this.jobs.length > 0) this.work(Number.POSITIVE_INFINITY)
  }

  /** Does `work` and gives `otherwise` where it throws: our own failures are counted, never the product's. */
  guard<T>(work: () => T, otherwise: T): T {
    try {
      return work()
    } catch (error) {
      this.failed(error)
      return otherwise
    }
  }

  failed(error: unknown): void {
    this.options.stats.internalErrors += 1
    diag.debug(`homeground: a recording failed: ${errorOf(error).message}`)
  }

  private work(budgetMs: number): void {
    this.scheduled = false
    const jobs = this.jobs
    this.jobs = []
    const start = performance.now()
    let index = 0
    for (; index < jobs.length; index += 1) {
      const job = jobs[index]
      if (job !== undefined) this.guard(job, undefined)
      // A burst of long bodies must not hold up the product's own work.
      if (performance.now() - start > budgetMs) break
    }
    const rest = jobs.slice(index + 1)
    if (rest.length === 0) return
    this.jobs = [...rest, ...this.jobs]
    if (!this.scheduled) {
      this.scheduled = true
      setImmediate(() => this.work(budgetMs))
    }
  }

  /** A span that another instrumentation made, sampled and finished as ours are. */
  deliverForeign(made: SpanRecord, frame: Frame | undefined): void {
    const sampled = frame?.sampled ?? this.options.sample(made.traceId)
    this.later(() => {
      if (frame?.replay === undefined && !sampled) this.options.stats.unsampled += 1
      else this.hand(made, frame)
    })
  }

  private deliver(span: OpenSpan): void {
    if (span.frame?.replay === undefined && !this.sampled(span)) {
      this.options.stats.unsampled += 1
      return
    }
    const record = this.hand(spanRecord(span, this.options, this.capturesContent(span.frame), [...this.secrets]), span.frame)
    if (span.hostSpan !== undefined && record !== undefined) endHostSpan(span.hostSpan, record, span.endMs)
  }

  /** Finishes the span and brings it to where it goes. */
  private hand(made: SpanRecord, frame: Frame | undefined): SpanRecord | undefined {
    const { finish } = this.options
    const masked = this.secrets.size === 0 ? made : { ...made, attributes: withoutSecrets(made.attributes, this.secrets) }
    const record = finish === undefined ? masked : finish(masked)
    if (record === undefined) return undefined
    this.options.stats.spans += 1
    if (frame?.replay === undefined) {
      this.options.sink.add(record)
      this.options.delivered?.()
    } else frame.replay.state.record(record)
    return record
  }

  /** Whether the episode of this trace is recorded. What the host's sampler decided is known in its run only; elsewhere it is taken for recorded. */
  keeps(traceId: string): boolean {
    const { sample, tracer } = this.options
    const frame = currentFrame()
    const within = frame?.traceId === traceId ? frame : undefined
    if (within?.hostSpan !== undefined) return (within.hostSpan.spanContext().traceFlags & 1) === 1
    return within?.sampled ?? (tracer !== undefined || sample(traceId))
  }

  private sampled(span: OpenSpan): boolean {
    if (span.hostSpan !== undefined) return (span.hostSpan.spanContext().traceFlags & 1) === 1
    return span.frame?.sampled ?? this.options.sample(span.traceId)
  }
}
