// Says once, when the process ends, that nothing was recorded in it, or that what was recorded did not arrive, and what to do: a product that forgot one line finds out on the first day.
import { nodeWorkers } from './late-modules.ts'
import type { Stats } from './stats.ts'

export interface Watched {
  stats: Stats
  /** Finishes the spans that have ended. */
  drain(): void
  /** What to do where nothing was recorded. */
  advice: string
  /** Where spans go; absent where the product has an exporter of its own. */
  collector?: { endpoint: string; spool: () => string | undefined }
}

const watched: Watched[] = []

/**
 * Where all of them saw nothing the last one's advice is written to stderr; where spans could not be delivered, how many and to whom.
 * Not in tests (`NODE_ENV=test`); after a failure, which has its own words, only what was lost.
 */
export function warnAtExit(instance: Watched): void {
  watched.push(instance)
  // A worker thread may be one of many, of which only some get work.
  if (watched.length > 1 || !nodeWorkers().isMainThread) return
  process.once('exit', (code) => {
    if (process.env['NODE_ENV'] === 'test') return
    // After process.exit() ended spans have not been put together.
    for (const each of watched) each.drain()
    const seen = watched.some(({ stats }) => sawAnything(stats))
    const last = watched.at(-1)
    if (!seen && last !== undefined && code === 0) process.stderr.write(`homeground: nothing was recorded. ${last.advice}\n`)
    for (const each of watched) process.stderr.write(undelivered(each))
  })
}

/** A process that only says what somebody thought of an earlier one's episode, or sends what that has left in a spool, needs no advice. */
function sawAnything(stats: Stats): boolean {
  const { spans, openSpans, unsampled, exported, queuedSpans, queuedFeedback, exportedFeedback, droppedFeedback } = stats
  return spans + openSpans + unsampled + exported + queuedSpans + queuedFeedback + exportedFeedback + droppedFeedback > 0
}

/** A line for spans and one for feedback, or nothing. */
export function undelivered({ stats, collector }: Pick<Watched, 'stats' | 'collector'>): string {
  if (collector === undefined) return ''
  const feedback = stats.queuedFeedback + stats.droppedFeedback
  const told =
    feedback === 0
      ? ''
      : `homeground: ${feedback} feedback is lost: the collector at ${collector.endpoint} did not get it. A spool keeps spans only: await hg.flush(), and give it again where that is false\n`
  return undeliveredSpans(stats, collector) + told
}

function undeliveredSpans(stats: Stats, collector: NonNullable<Watched['collector']>): string {
  const waiting = stats.queuedSpans + stats.dropped
  if (waiting + stats.rejected === 0) return ''
  const { endpoint } = collector
  const spool = collector.spool()
  if (stats.rejected > 0 && waiting === 0)
    return `homeground: ${stats.rejected} of ${stats.spans} spans are lost: the collector at ${endpoint} refused them. Are HOMEGROUND_ENDPOINT and HOMEGROUND_API_KEY those of your collector?\n`
  if (stats.exportErrors === 0) {
    // What is on disk will be sent by the next process.
    if (spool !== undefined || stats.queuedSpans === 0) return ''
    return `homeground: ${stats.queuedSpans} of ${stats.spans} spans are lost: the process was ended before they were sent. Await hg.flush() before process.exit()\n`
  }
  const kept = spool === undefined ? 0 : stats.queuedSpans
  const lost = waiting - kept
  const fates = [
    ...(kept === 0 ? [] : [`${kept} spans wait in ${spool} for the next start`]),
    ...(lost === 0 ? [] : [`${lost} of ${stats.spans} spans are lost`]),
  ]
  return `homeground: ${fates.join(', ')}: the collector at ${endpoint} did not take them. Is it running (homeground up), and is HOMEGROUND_ENDPOINT where it listens?\n`
}
