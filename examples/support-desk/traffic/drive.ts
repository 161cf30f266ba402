// Plays customers against a running desk, over HTTP as they would: opens a session, writes each turn, rates the answers; the quality team notes what was right.
import { z } from 'zod'
import type { CustomerSession, Turn } from './kinds.ts'

const sessionSchema = z.object({ session: z.string() })
const replySchema = z.object({ message: z.string(), reply: z.string() })

export interface TrafficReport {
  sessions: number
  turns: number
  /** Answers that contained what a right answer contains. */
  helpful: number
  /** Turns that the desk could not answer. */
  failed: number
}

export interface TrafficOptions {
  /** Of the desk, without a slash at its end. */
  url: string
  /** Sessions at a time. @default 4 */
  concurrency?: number
  /** Called after each session. */
  onSession?: (done: number) => void
}

/** Sessions run side by side; the turns of one follow each other. A turn that fails ends its session and is counted. */
export async function drive(sessions: readonly CustomerSession[], options: TrafficOptions): Promise<TrafficReport> {
  const report: TrafficReport = { sessions: 0, turns: 0, helpful: 0, failed: 0 }
  const waiting = [...sessions]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await playSession(next, options.url, report)
      report.sessions += 1
      options.onSession?.(report.sessions)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency ?? 4 }, worker))
  return report
}

async function playSession(customerSession: CustomerSession, url: string, report: TrafficReport): Promise<void> {
  const { session } = sessionSchema.parse(await post(`${url}/sessions`, { customer: customerSession.customer }))
  for (const turn of customerSession.turns) {
    report.turns += 1
    try {
      const { message, reply } = replySchema.parse(await post(`${url}/sessions/${session}/messages`, { text: turn.says }))
      const helpful = contains(reply, turn)
      if (helpful) report.helpful += 1
      await post(`${url}/sessions/${session}/messages/${message}/rating`, { helpful })
      await post(`${url}/sessions/${session}/messages/${message}/review`, {
        reviewer: 'quality-team',
        actions: turn.actions,
        outputs: turn.outputs,
      })
    } catch {
      report.failed += 1
      return
    }
  }
}

function contains(reply: string, turn: Turn): boolean {
  return turn.outputs.every((output) => reply.toLowerCase().includes(output.toLowerCase()))
}

/** @throws Error for any status but 2xx, with what the desk said */
async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
