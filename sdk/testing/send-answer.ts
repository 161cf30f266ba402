// Sends a test's answer: whole or as a stream, in its time, with the fault that it asks for.
import type http from 'node:http'
import { setImmediate, setTimeout } from 'node:timers'
import type { StreamEvent } from '../trace/dialects/dialect.ts'
import type { TimedAnswer } from './types.ts'
import type { WireAnswer } from './wire-answer.ts'

export type Manner = Pick<TimedAnswer, 'delayMs' | 'chunkDelayMs' | 'cutAfter' | 'malformedAfter' | 'stallAfter'>

export async function sendAnswer(response: http.ServerResponse, wire: WireAnswer, stream: boolean, manner: Manner): Promise<void> {
  if (manner.delayMs !== undefined) await pause(manner.delayMs)
  if (stream) await sendStream(response, wire.events(), manner)
  else sendBody(response, JSON.stringify(wire.body), manner)
}

export function sendJson(response: http.ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function sendBody(response: http.ServerResponse, text: string, { cutAfter, malformedAfter, stallAfter }: Manner): void {
  const half = text.slice(0, Math.floor(text.length / 2))
  if (malformedAfter !== undefined) {
    sendJson(response, 200, half)
    return
  }
  if (cutAfter === undefined && stallAfter === undefined) {
    sendJson(response, 200, text)
    return
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  // After the half is out: what is destroyed at once sends nothing.
  response.write(half, () => {
    if (stallAfter === undefined) response.destroy()
  })
}

async function sendStream(response: http.ServerResponse, events: readonly StreamEvent[], manner: Manner): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  response.flushHeaders()
  for (const [index, { event, data }] of events.entries()) {
    if (response.destroyed || index === manner.stallAfter) return
    if (index === manner.cutAfter) {
      response.destroy()
      return
    }
    if (index === manner.malformedAfter) response.write(framed(event, '{"malformed'))
    response.write(framed(event, data))
    // A turn of the event loop between writes, so that chunks arrive as chunks.
    await (manner.chunkDelayMs === undefined ? new Promise((resolve) => setImmediate(resolve)) : pause(manner.chunkDelayMs))
  }
  response.end()
}

function framed(event: string | undefined, data: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
