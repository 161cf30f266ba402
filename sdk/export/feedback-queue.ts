// Feedback on its way to the collector: few and small, so a count bounds it.
import type { Stats } from '../run/stats.ts'
import type { OtlpSender } from './otlp-sender.ts'
import type { FeedbackRecord } from './types.ts'

const maxWaiting = 10_000
const batchSize = 500

export class FeedbackQueue {
  private readonly sender: OtlpSender
  private readonly stats: Stats
  private queue: FeedbackRecord[] = []

  constructor(sender: OtlpSender, stats: Stats) {
    this.sender = sender
    this.stats = stats
  }

  get waiting(): boolean {
    return this.queue.length > 0
  }

  add(feedback: FeedbackRecord): void {
    if (this.queue.length >= maxWaiting) this.stats.droppedFeedback += 1
    else this.queue.push(feedback)
  }

  /** Sends all that waits, or as much as the collector takes. */
  async send(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, batchSize)
      const result = await this.sender.sendFeedback(JSON.stringify({ feedback: batch }))
      if (result.kind === 'retry') {
        this.stats.exportErrors += 1
        return
      }
      this.queue.splice(0, batch.length)
      if (result.kind === 'accepted') continue
      this.stats.exportErrors += 1
      this.stats.droppedFeedback += batch.length
    }
  }
}
