// The way of encoded spans to the collector: batches by bytes, one at a time. A full queue drops what is newest, counts it, warns once, and says how many
// were lost when there is room again.
import { AsyncResource } from 'node:async_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { diag } from '../run/host-telemetry.ts'
import type { Stats } from '../run/stats.ts'
import { warnHost } from '../run/warn-host.ts'
import type { SpanRecord } from '../trace/span.ts'
import { errorText } from '../trace/thrown.ts'
import { FeedbackQueue } from './feedback-queue.ts'
import { encodeHead, encodeSpan } from './otlp-encoder.ts'
import type { OtlpSender } from './otlp-sender.ts'
import type { PieceQueue } from './piece-queue.ts'
import type { SpanSink } from './sink.ts'
import type { FeedbackRecord } from './types.ts'
import { withTimeout } from './with-timeout.ts'

export interface OtlpSinkOptions {
  sender: OtlpSender
  queue: PieceQueue
  stats: Stats
  maxBatchBytes: number
  /** How long a span may wait for company. */
  delayMs: number
}

export class OtlpSink implements SpanSink {
  private readonly options: OtlpSinkOptions
  private readonly feedback: FeedbackQueue
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  private droppedSinceWarning = 0
  private closed = false
  /** How many spans the next request may hold: halved while the collector refuses, until the one that it means is alone. */
  private maxCount = Number.POSITIVE_INFINITY
  /** Timers and requests run outside any request of the product's, so that its context is neither kept alive nor traced. */
  private readonly outside = new AsyncResource('homeground.export')

  constructor(options: OtlpSinkOptions) {
    this.options = options
    this.feedback = new FeedbackQueue(options.sender, options.stats)
  }

  add(span: SpanRecord): void {
    const { queue, stats, maxBatchBytes, sender } = this.options
    if (this.closed || !queue.add(encodeSpan(span))) {
      stats.dropped += 1
      if (this.droppedSinceWarning === 0 && !this.closed) {
        diag.warn(`homeground: the export queue is full (${queue.bytes} bytes); new spans are dropped until the collector takes some`)
      }
      this.droppedSinceWarning += 1
      return
    }
    this.note()
    if (queue.bytes >= maxBatchBytes && sender.waitMs() === 0) void this.run()
    else this.schedule()
  }

  addFeedback(feedback: FeedbackRecord): void {
    this.feedback.add(feedback)
    this.schedule()
  }

  async flush(timeoutMs: number): Promise<boolean> {
    const { stats, queue, sender } = this.options
    const until = Date.now() + timeoutMs
    const lost = (): number => stats.rejected + stats.dropped + stats.droppedFeedback
    const lostBefore = lost()
    const done = await withTimeout(timeoutMs, async () => {
      do {
        const { exportErrors, internalErrors } = stats
        await this.run()
        if (stats.internalErrors > internalErrors) break
        if (stats.exportErrors === exportErrors) continue
        // A collector that is away is tried once by a flush; one that answers that it is busy, as often as there is time.
        if (!sender.busy || sender.waitMs() >= until - Date.now()) break
        await pause(sender.waitMs())
      } while (!this.closed && (queue.count > 0 || this.feedback.waiting || this.running !== undefined))
    })
    return done && queue.count === 0 && !this.feedback.waiting && lost() === lostBefore
  }

  async shutdown(timeoutMs: number): Promise<void> {
    await this.flush(timeoutMs)
    this.closed = true
    clearTimeout(this.timer)
    this.options.sender.close()
    await this.running
    const { queue, stats } = this.options
    stats.dropped += await queue.close()
    this.feedback.close()
    this.note()
  }

  /** Sends what an earlier process has left, if anything. */
  wake(): void {
    this.schedule()
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
      this.work()
        .catch((error: unknown) => {
          this.options.stats.internalErrors += 1
          diag.debug(`homeground: an export failed: ${errorText(error)}`)
        })
        .finally(() => {
          this.running = undefined
          this.note()
          if (this.options.queue.count > 0 || this.feedback.waiting)
            this.schedule(Math.max(this.options.delayMs, this.options.sender.waitMs()))
        }),
    )
    return this.running
  }

  private async work(): Promise<void> {
    const { queue, maxBatchBytes } = this.options
    while (!this.closed) {
      const batch = await queue.peek(maxBatchBytes, this.maxCount)
      if (batch === undefined) break
      const { resource, scope } = batch.origin
      const sent = await this.send(Buffer.concat([encodeHead(resource, scope, batch.bytes), ...batch.pieces]), batch.pieces.length)
      if (sent === 'later') return
      if (sent === 'again') continue
      await queue.done(batch.pieces.length)
      this.note()
      if (this.droppedSinceWarning === 0) continue
      diag.warn(`homeground: the export queue has room again; ${this.droppedSinceWarning} spans were dropped`)
      this.droppedSinceWarning = 0
    }
    await this.feedback.send()
  }

  private async send(body: Buffer, count: number): Promise<'done' | 'later' | 'again'> {
    const { sender, stats } = this.options
    const result = await sender.sendSpans(body)
    switch (result.kind) {
      case 'accepted': {
        const rejected = Math.min(result.rejected, count)
        this.maxCount *= 2
        stats.rejected += rejected
        stats.exported += count - rejected
        return 'done'
      }
      case 'retry':
        stats.exportErrors += 1
        return 'later'
      case 'refused':
        stats.refusals += 1
        if (count > 1 && result.divisible) {
          this.maxCount = Math.ceil(count / 2)
          return 'again'
        }
        stats.rejected += count
        diag.warn(`homeground: the collector refused ${count} spans with status ${result.status}: ${result.reason}`)
        // Not one span's fault: nothing of this process will be taken until somebody mends its settings.
        if (!result.divisible) warnHost(stats, refusal(sender.endpoint, result))
        return 'done'
    }
  }

  private note(): void {
    this.options.stats.queuedSpans = this.options.queue.count
    this.options.stats.queuedBytes = this.options.queue.bytes
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function refusal(endpoint: string, { status, reason }: { status: number; reason: string }): string {
  const action =
    status === 401 || status === 403
      ? 'Is HOMEGROUND_API_KEY a key of this project with the right to ingest (homeground keys list)?'
      : 'Is HOMEGROUND_ENDPOINT the address of a collector (homeground up)?'
  return `the collector at ${endpoint} refuses spans (status ${status}: ${reason}); they are lost. ${action}`
}
