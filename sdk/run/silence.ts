// Says once, when the process ends, that nothing was recorded in it and what to do: a product that forgot one line finds out on the first day.
import { isMainThread } from 'node:worker_threads'
import type { Stats } from './stats.ts'

interface Watched {
  stats: Stats
  advice: string
}

const watched: Watched[] = []

/** Where all of them saw nothing the last one's advice is written to stderr. Not in tests (`NODE_ENV=test`), and not after a failure, which has its own words. */
export function warnIfNothingIsSeen(stats: Stats, advice: string): void {
  watched.push({ stats, advice })
  // A worker thread may be one of many, of which only some get work.
  if (watched.length > 1 || !isMainThread) return
  process.once('exit', (code) => {
    const seen = watched.some(({ stats: { spans, openSpans, unsampled } }) => spans + openSpans + unsampled > 0)
    const last = watched.at(-1)
    if (seen || code !== 0 || last === undefined || process.env['NODE_ENV'] === 'test') return
    process.stderr.write(`homeground: nothing was recorded. ${last.advice}\n`)
  })
}
