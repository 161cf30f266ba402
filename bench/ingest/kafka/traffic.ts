// Spans of 2.6 KB over keep-alive connections, as fast as they are taken or at a given rate. Bodies are made once and sent again under new trace ids.
import { randomBytes, randomFillSync } from 'node:crypto'
import http from 'node:http'
import { type PlainSpan, protobufTraces } from '../../../test/support/otlp.ts'

export interface Traffic {
  spans: number
  seconds: number
  refused: number
}

export interface TrafficOptions {
  url: string
  seconds: number
  spansPerRequest: number
  connections: number
  /** Spans a second in all. @default as many as are taken */
  rate?: number
}

/** Resolves when the time is over and every request has been answered. */
export async function sendTraffic({ url, seconds, spansPerRequest, connections, rate }: TrafficOptions): Promise<Traffic> {
  const bodies = Array.from({ length: 40 }, () => body(spansPerRequest))
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const begun = performance.now()
  const result: Traffic = { spans: 0, seconds: 0, refused: 0 }
  let turn = 0
  const worker = async () => {
    while (performance.now() < begun + seconds * 1_000) {
      const n = turn++
      const due = rate === undefined ? 0 : begun + (n * spansPerRequest * 1_000) / rate
      if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
      const template = bodies[n % bodies.length]
      if (template === undefined) return
      const bytes = Buffer.from(template.bytes)
      randomFillSync(template.id)
      for (const at of template.places) template.id.copy(bytes, at)
      if ((await post(`${url}/v1/traces`, bytes, agent)) === 200) result.spans += spansPerRequest
      else result.refused += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  result.seconds = (performance.now() - begun) / 1_000
  agent.destroy()
  return result
}

/** The answer's status; 0 where there was none. */
export function post(url: string, bytes: Uint8Array, agent?: http.Agent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/x-protobuf', 'content-length': bytes.length }
    const request = http.request(url, { method: 'POST', headers, ...(agent === undefined ? {} : { agent }) }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(bytes)
  })
}

/** One request of one trace, with the places of its trace id. */
function body(spans: number): { bytes: Buffer; id: Buffer; places: number[] } {
  const id = randomBytes(16)
  const bytes = protobufTraces(Array.from({ length: spans }, () => span(id.toString('hex'))))
  const places: number[] = []
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 16)) places.push(at)
  return { bytes, id, places }
}

export function span(traceId: string): PlainSpan {
  return {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'homeground.api': 'openai.chat',
      'homeground.request.body': JSON.stringify({ messages: [{ role: 'user', content: words(1_300) }] }),
      'homeground.response.body': JSON.stringify({ choices: [{ message: { role: 'assistant', content: words(1_100) } }] }),
    },
  }
}

const vocabulary = Array.from({ length: 3_000 }, () => randomBytes(2 + Math.floor(Math.random() * 3)).toString('hex'))

function words(length: number): string {
  const chosen: string[] = []
  for (let bytes = 0; bytes < length; ) {
    const word = vocabulary[Math.floor(Math.random() * vocabulary.length)] ?? ''
    chosen.push(word)
    bytes += word.length + 1
  }
  return chosen.join(' ')
}
