// Hands spans to the user's own exporter in batches. What it throws is counted; a batch is offered once, since only the exporter knows what it has kept.
import { setImmediate } from 'node:timers'
import { diag } from '../run/host-telemetry.ts'
import type { Stats } from '../run/stats.ts'
import type { SpanRecord } from '../trace/span.ts'
import { errorText } from '../trace/thrown.ts'
import type { SpanSink } from './sink.ts'
import type { Exporter, FeedbackRecord } from './types.ts'
import { withTimeout } from './with-timeout.ts'

const batchSize = 512
/** Spans without content are small, not nothing. */
const maxSpans = 100_000

export class ExporterSink implements SpanSink {
  private readonly exporter: Exporter
  private readonly stats: Stats
  private readonly maxBytes: number
  private queue: SpanRecord[] = []
  /** Of the queue, and of the batch that the exporter has and has not done with. */
  private heldBytes = 0
  private feedback: FeedbackRecord[] = []
  private running: Promise<void> | undefined
  private closed = false
  private warned = false

  /** `maxBytes` bounds what an exporter that never ends can make us hold. */
  constructor(exporter: Exporter, stats: Stats, maxBytes: number) {
    this.exporter = exporter
    this.stats = stats
    this.maxBytes = maxBytes
  }

  add(span: SpanRecord): void {
    const bytes = sizeOf(span)
    if (this.closed || this.queue.length >= maxSpans || this.heldBytes + bytes > this.maxBytes) {
      this.stats.dropped += 1
      return
    }
    this.queue.push(span)
    this.hold(1, bytes)
    void this.run()
  }

  addFeedback(feedback: FeedbackRecord): void {
    if (this.closed || this.feedback.length >= maxSpans) this.stats.droppedFeedback += 1
    else this.feedback.push(feedback)
    this.stats.queuedFeedback = this.feedback.length
    void this.run()
  }

  async flush(timeoutMs: number): Promise<boolean> {
    const lost = (): number => this.stats.exportErrors + this.stats.dropped + this.stats.droppedFeedback
    const lostBefore = lost()
    const done = await withTimeout(timeoutMs, async () => {
      while (this.queue.length > 0 || this.feedback.length > 0 || this.running !== undefined) await this.run()
      await this.call(() => this.exporter.flush?.(), 0)
    })
    return done && lost() === lostBefore
  }

  async shutdown(timeoutMs: number): Promise<void> {
    await this.flush(timeoutMs)
    this.closed = true
    const left = this.queue.splice(0)
    this.hold(-left.length, -totalOf(left))
    this.stats.dropped += left.length
    await withTimeout(timeoutMs, () => this.call(() => this.exporter.shutdown?.(), 0))
  }

  private run(): Promise<void> {
    this.running ??= this.work().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  private async work(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, batchSize)
      const { length } = batch
      const bytes = totalOf(batch)
      if (await this.call(() => this.exporter.export(batch), length)) this.stats.exported += length
      this.hold(-length, -bytes)
    }
    if (this.feedback.length === 0) return
    const batch = this.feedback.splice(0)
    const { exporter, stats } = this
    stats.queuedFeedback = 0
    const taken = exporter.exportFeedback !== undefined && (await this.call(() => exporter.exportFeedback?.(batch), 0))
    if (taken) stats.exportedFeedback += batch.length
    else stats.droppedFeedback += batch.length
  }

  private hold(spans: number, bytes: number): void {
    this.heldBytes += bytes
    this.stats.queuedSpans += spans
    this.stats.queuedBytes = this.heldBytes
  }

  private async call(work: () => unknown, spans: number): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.stats.exportErrors += 1
      this.stats.dropped += spans
      if (!this.warned) diag.warn(`homeground: the exporter failed; ${spans} spans are lost: ${errorText(error)}`)
      this.warned = true
      return false
    }
  }
}

function totalOf(spans: readonly SpanRecord[]): number {
  return spans.reduce((sum, span) => sum + sizeOf(span), 0)
}

/** About: its texts are nearly all of it. */
function sizeOf({ attributes }: SpanRecord): number {
  return Object.values(attributes).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 200)
}
