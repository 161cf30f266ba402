// The queue of encoded spans, bounded in bytes, and its way to the collector. A full queue drops what is newest, counts it, warns once, and says how many
// were lost when there is room again.
import { AsyncResource } from 'node:async_hooks'
import { diag } from '@opentelemetry/api'
import type { Stats } from '../run/stats.ts'
import type { Attributes, SpanRecord } from '../trace/span.ts'
import { FeedbackQueue } from './feedback-queue.ts'
import { encodeHead, encodeSpan } from './otlp-encoder.ts'
import type { OtlpSender, SendResult } from './otlp-sender.ts'
import type { SpanSink } from './sink.ts'
import type { FeedbackRecord } from './types.ts'
import { withTimeout } from './with-timeout.ts'

export interface OtlpSinkOptions {
  sender: OtlpSender
  stats: Stats
  resource: Attributes
  scope: SpanRecord['scope']
  maxQueueBytes: number
  maxBatchBytes: number
  /** How long a span may wait for company. */
  delayMs: number
}

export class OtlpSink implements SpanSink {
  private readonly options: OtlpSinkOptions
  private readonly feedback: FeedbackQueue
  private queue: Buffer[] = []
  private queuedBytes = 0
  /** Bytes that a request under way still holds. */
  private sendingBytes = 0
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  private droppedSinceWarning = 0
  private closed = false
  /** Timers and requests run outside any request of the product's, so that its context is neither kept alive nor traced. */
  private readonly outside = new AsyncResource('homeground.export', { requireManualDestroy: false })

  constructor(options: OtlpSinkOptions) {
    this.options = options
    this.feedback = new FeedbackQueue(options.sender, options.stats)
  }

  add(span: SpanRecord): void {
    const { stats, maxQueueBytes, maxBatchBytes } = this.options
    const piece = encodeSpan(span)
    if (this.closed || this.queuedBytes + this.sendingBytes + piece.byteLength > maxQueueBytes) {
      stats.dropped += 1
      if (this.droppedSinceWarning === 0) {
        diag.warn(`homeground: the export queue is full (${maxQueueBytes} bytes); new spans are dropped until the collector takes some`)
      }
      this.droppedSinceWarning += 1
      return
    }
    this.queue.push(piece)
    this.queuedBytes += piece.byteLength
    this.note()
    if (this.queuedBytes >= maxBatchBytes && this.options.sender.waitMs() === 0) void this.run()
    else this.schedule()
  }

  addFeedback(feedback: FeedbackRecord): void {
    this.feedback.add(feedback)
    this.schedule()
  }

  async flush(timeoutMs: number): Promise<boolean> {
    return await withTimeout(timeoutMs, async () => {
      const { stats } = this.options
      const failures = stats.exportErrors
      while (this.queue.length > 0 || this.feedback.waiting || this.running !== undefined) {
        await this.run()
        // A collector that is away is tried once by a flush, not until the time is over.
        if (stats.exportErrors > failures && this.queue.length > 0) throw new Error('not delivered')
      }
    })
  }

  async shutdown(timeoutMs: number): Promise<void> {
    await this.flush(timeoutMs)
    this.closed = true
    clearTimeout(this.timer)
    this.options.sender.close()
  }

  private schedule(delayMs = this.options.delayMs): void {
    if (this.timer !== undefined || this.closed) return
    this.outside.runInAsyncScope(() => {
      this.timer = setTimeout(() => {
        this.timer = undefined
        void this.run()
      }, delayMs)
      this.timer.unref()
    })
  }

  private run(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    this.running ??= this.outside.runInAsyncScope(() =>
      this.work().finally(() => {
        this.running = undefined
        if ((this.queue.length > 0 || this.feedback.waiting) && !this.closed) this.schedule(this.options.sender.waitMs())
      }),
    )
    return this.running
  }

  private async work(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.take()
      const result = await this.send(batch)
      if (result === 'retry') {
        this.queue = [...batch, ...this.queue]
        this.queuedBytes += this.sendingBytes
        this.sendingBytes = 0
        this.note()
        return
      }
      this.sendingBytes = 0
      this.note()
      if (this.droppedSinceWarning > 0) {
        diag.warn(`homeground: the export queue has room again; ${this.droppedSinceWarning} spans were dropped`)
        this.droppedSinceWarning = 0
      }
    }
    await this.feedback.send()
  }

  private take(): Buffer[] {
    let bytes = 0
    let count = 0
    for (const piece of this.queue) {
      if (count > 0 && bytes + piece.byteLength > this.options.maxBatchBytes) break
      bytes += piece.byteLength
      count += 1
    }
    const batch = this.queue.splice(0, count)
    this.queuedBytes -= bytes
    this.sendingBytes = bytes
    this.note()
    return batch
  }

  /** Sends a batch; where the collector refuses it as a whole, its halves, so that one bad span costs nobody but itself. */
  private async send(batch: readonly Buffer[]): Promise<'done' | 'retry'> {
    const { sender, resource, scope, stats } = this.options
    const bytes = batch.reduce((sum, piece) => sum + piece.byteLength, 0)
    const result: SendResult = await sender.sendSpans(Buffer.concat([encodeHead(resource, scope, bytes), ...batch]))
    switch (result.kind) {
      case 'accepted':
        stats.rejected += result.rejected
        stats.exported += batch.length - result.rejected
        return 'done'
      case 'retry':
        stats.exportErrors += 1
        return 'retry'
      case 'refused': {
        stats.exportErrors += 1
        if (batch.length === 1 || !result.divisible) {
          stats.rejected += batch.length
          diag.warn(`homeground: the collector refused ${batch.length} spans with status ${result.status}: ${result.reason}`)
          return 'done'
        }
        const half = Math.ceil(batch.length / 2)
        for (const part of [batch.slice(0, half), batch.slice(half)]) {
          // A part that cannot be sent now is given up rather than sent twice.
          if ((await this.send(part)) === 'retry') stats.dropped += part.length
        }
        return 'done'
      }
    }
  }

  private note(): void {
    this.options.stats.queuedSpans = this.queue.length
    this.options.stats.queuedBytes = this.queuedBytes + this.sendingBytes
  }
}
