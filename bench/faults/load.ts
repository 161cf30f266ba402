// The traffic: a few senders, each of which sends spans until it is told that they were taken, and writes down what it was told. Some spans are sent again: as they were,
// or with a start on the other side of a month's end and a new revision, which has to win.
import { protobufTraces } from '../../test/support/otlp.ts'

/** What was acknowledged: span (trace id + span id) to the revision that must be found. */
export type Ledger = Map<string, number>

export interface LoadOptions {
  /** Where to send; asked anew for each attempt. */
  urls: readonly string[]
  senders: number
  random: () => number
  /** Sets the spans of one load apart from another's. */
  series: number
}

export interface Load {
  ledger: Ledger
  counts: { requests: number; failedAttempts: number; resent: number }
  /** Resolves when every sender has been told of its last request. */
  stop(): Promise<void>
}

interface Sent {
  traceId: string
  spanId: string
  revision: number
}

/** 100 ms before and after the end of November 2025, in nanoseconds. */
const beforeMonthEnd = 1_764_547_199_900_000_000n
const afterMonthEnd = 1_764_547_200_100_000_000n
const spansPerRequest = 10

export function startLoad({ urls, senders, random, series }: LoadOptions): Load {
  const ledger: Ledger = new Map()
  const counts = { requests: 0, failedAttempts: 0, resent: 0 }
  let isStopped = false
  let next = 0
  const words = Array.from({ length: 4_000 }, () => Math.floor(random() * 1e9).toString(36))
  const text = (length: number) => {
    const parts: string[] = []
    for (let bytes = 0; bytes < length; ) bytes += parts.push(words[Math.floor(random() * words.length)] ?? '') && 7
    return parts.join(' ')
  }

  const fresh = (trace: string): Sent => ({ traceId: trace, spanId: hex(++next, 16), revision: 1 })
  const trace = () => hex(series * 1_000_000 + ++next, 32)

  async function send(spans: readonly Sent[]): Promise<void> {
    const big = random() < 0.02
    const body = protobufTraces(
      spans.map(({ traceId, spanId, revision }, n) => ({
        traceId,
        spanId,
        start: revision % 2 === 1 ? beforeMonthEnd : afterMonthEnd,
        attributes: {
          'gen_ai.operation.name': 'chat',
          revision: String(revision),
          'homeground.api': 'openai.chat',
          'homeground.request.body': JSON.stringify({ messages: [{ role: 'user', content: text(big && n === 0 ? 1_500_000 : 2_000) }] }),
        },
      })),
      { 'service.name': 'faults' },
    )
    for (;;) {
      const url = urls[Math.floor(random() * urls.length)] ?? ''
      if (await attempt(url, body)) break
      counts.failedAttempts += 1
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 200))
    }
    counts.requests += 1
    for (const { traceId, spanId, revision } of spans) ledger.set(traceId + spanId, revision)
  }

  async function sender(): Promise<void> {
    const known: Sent[] = []
    while (!isStopped) {
      const id = trace()
      const spans = Array.from({ length: spansPerRequest }, () => fresh(id))
      await send(spans)
      known.push(...spans)
      if (random() < 0.3) {
        // Of one trace or of several; a span once a request.
        const again = [...new Set(Array.from({ length: spansPerRequest }, () => known[Math.floor(random() * known.length)]))].filter(
          (one) => one !== undefined,
        )
        if (random() < 0.7) for (const one of again) one.revision += 1
        counts.resent += again.length
        await send(again)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const all = Promise.all(Array.from({ length: senders }, sender))
  return {
    ledger,
    counts,
    stop: async () => {
      isStopped = true
      await all
    },
  }
}

async function attempt(url: string, body: Buffer): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/x-protobuf' },
      signal: AbortSignal.timeout(90_000),
    })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, '0')
}
