// Feedback on its way to the collector: few and small, so a count bounds it.
import { diag } from '../run/host-telemetry.ts'
import type { Stats } from '../run/stats.ts'
import type { OtlpSender } from './otlp-sender.ts'
import type { FeedbackRecord } from './types.ts'

const maxWaiting = 10_000
const batchSize = 500

export class FeedbackQueue {
  private readonly sender: OtlpSender
  private readonly stats: Stats
  /** Each as JSON: what cannot become JSON must fail where it is added, not where it is sent. */
  private readonly queue: string[] = []
  /** How many the next request may hold: halved while the collector refuses, until the one that it means is alone. */
  private maxCount = batchSize

  constructor(sender: OtlpSender, stats: Stats) {
    this.sender = sender
    this.stats = stats
  }

  get waiting(): boolean {
    return this.queue.length > 0
  }

  add(feedback: FeedbackRecord): void {
    if (this.queue.length >= maxWaiting) this.stats.droppedFeedback += 1
    else this.queue.push(JSON.stringify(feedback))
    this.stats.queuedFeedback = this.queue.length
  }

  /** What still waits is dropped: it is kept in memory only. */
  close(): void {
    this.stats.droppedFeedback += this.queue.splice(0).length
    this.stats.queuedFeedback = 0
  }

  /** Sends all that waits, or as much as the collector takes. */
  async send(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, this.maxCount)
      const result = await this.sender.sendFeedback(`{"feedback":[${batch.join(',')}]}`)
      if (result.kind === 'retry') {
        this.stats.exportErrors += 1
        return
      }
      if (result.kind === 'refused') {
        this.stats.refusals += 1
        if (batch.length > 1 && result.divisible) {
          this.maxCount = Math.ceil(batch.length / 2)
          continue
        }
        this.stats.droppedFeedback += batch.length
        diag.warn(`homeground: the collector refused ${batch.length} feedback with status ${result.status}: ${result.reason}`)
      } else {
        this.maxCount = Math.min(this.maxCount * 2, batchSize)
        this.stats.exportedFeedback += batch.length
      }
      this.queue.splice(0, batch.length)
      this.stats.queuedFeedback = this.queue.length
    }
  }
}
