// One request to the collector at a time: OTLP/HTTP protobuf, compressed where that pays, with back-off and Retry-After.
import { clearTimeout, setTimeout } from 'node:timers'
import { diag, untraced } from '../run/host-telemetry.ts'
import { nodeZlib } from '../run/late-modules.ts'
import { isError } from '../trace/thrown.ts'

export interface OtlpSenderOptions {
  /** Base URL of the collector, without a path. */
  endpoint: string
  apiKey: string | undefined
  compression: 'gzip' | 'none'
  timeoutMs: number
  fetch: typeof fetch
  random: () => number
}

/** `retry`: the same may be sent again after `waitMs()`. `refused`: it never will be taken; `divisible` when a part of it might be. */
export type SendResult =
  | { kind: 'accepted'; rejected: number }
  | { kind: 'retry' }
  | { kind: 'refused'; status: number; reason: string; divisible: boolean }

export class OtlpSender {
  private readonly options: OtlpSenderOptions
  private readonly underWay = new Set<AbortController>()
  private closed = false
  /** Whether the last answer was that the same should be sent later. */
  busy = false
  private failures = 0
  private notBefore = 0
  private warned = false

  constructor(options: OtlpSenderOptions) {
    this.options = options
  }

  sendSpans(body: Buffer): Promise<SendResult> {
    return this.send('/v1/traces', 'application/x-protobuf', body)
  }

  sendFeedback(body: string): Promise<SendResult> {
    return this.send('/v1/feedback', 'application/json', Buffer.from(body))
  }

  get endpoint(): string {
    return this.options.endpoint
  }

  /** How long to wait before the next try, from now. */
  waitMs(): number {
    return Math.max(0, this.notBefore - Date.now())
  }

  /** Breaks off the request under way. */
  close(): void {
    this.closed = true
    for (const each of this.underWay) each.abort()
  }

  private async send(path: string, contentType: string, body: Buffer): Promise<SendResult> {
    const { endpoint, apiKey, compression, timeoutMs } = this.options
    const zipped = compression === 'gzip' && body.byteLength > 1024
    const headers: Record<string, string> = { 'content-type': contentType }
    if (zipped) headers['content-encoding'] = 'gzip'
    if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey}`
    // Not AbortSignal.any and .timeout: before Node 22 the garbage collector takes what only they hold, and the request never ends.
    const request = new AbortController()
    const timer = setTimeout(() => request.abort(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
    this.underWay.add(request)
    if (this.closed) request.abort()
    try {
      const bytes = zipped ? await gzipped(body) : body
      const init = { method: 'POST', headers, body: bytes, signal: request.signal }
      const response = await untraced(() => this.options.fetch(endpoint + path, init))
      const answer = await beginning(response)
      const type = response.headers.get('content-type')
      // A web page on the wrong port says 200 to everything.
      if (response.ok && type?.startsWith('text/html') === true)
        return { kind: 'refused', status: response.status, reason: 'answered with a web page', divisible: false }
      if (response.ok) {
        this.failures = 0
        this.warned = false
        this.busy = false
        return { kind: 'accepted', rejected: path === '/v1/traces' ? rejectedSpans(answer, type) : 0 }
      }
      if ([408, 429, 500, 502, 503, 504].includes(response.status))
        return this.later(`status ${response.status}`, response.headers.get('retry-after'), true)
      const reason = Buffer.from(answer.subarray(0, 200)).toString('utf8')
      return {
        kind: 'refused',
        status: response.status,
        reason,
        divisible: response.status === 400 || response.status === 413 || response.status === 422,
      }
    } catch (error) {
      return this.later(isError(error) ? (causeOf(error) ?? error.message) : String(error), null, false)
    } finally {
      clearTimeout(timer)
      this.underWay.delete(request)
    }
  }

  /** Exponential from half a second to thirty, with full jitter on the upper half; Retry-After is a lower bound. */
  private later(reason: string, retryAfter: string | null, busy: boolean): SendResult {
    this.busy = busy
    const backoff = Math.min(30_000, 500 * 2 ** this.failures)
    this.failures += 1
    const asked = retryAfterMs(retryAfter)
    this.notBefore = Date.now() + Math.max(asked, backoff / 2 + (this.options.random() * backoff) / 2)
    if (!this.warned) {
      this.warned = true
      diag.warn(
        `homeground: the collector at ${this.options.endpoint} did not take spans (${reason}); they are kept within bounds and sent again`,
      )
    }
    return { kind: 'retry' }
  }
}

/** What of an answer is read: a collector's has a few hundred bytes, and what is no collector must not fill the product's memory. */
const mostAnswered = 64 * 1024

async function beginning(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    size += part.byteLength
    if (size >= mostAnswered) break
  }
  return Buffer.concat(parts).subarray(0, mostAnswered)
}

function gzipped(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    nodeZlib().gzip(body, { level: 3 }, (error, zipped) => (error === null ? resolve(zipped) : reject(error)))
  })
}

function causeOf(error: Error): string | undefined {
  return isError(error.cause) && error.cause.message !== '' ? error.cause.message : undefined
}

/** Seconds or a date; at most five minutes. */
function retryAfterMs(value: string | null): number {
  if (value === null) return 0
  const seconds = Number(value)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 300_000) : 0
}

/** `partial_success.rejected_spans` of an ExportTraceServiceResponse; 0 where it cannot be read. */
function rejectedSpans(answer: Uint8Array, contentType: string | null): number {
  if (answer.length === 0) return 0
  if (contentType?.includes('json') === true) {
    try {
      const value: unknown = JSON.parse(Buffer.from(answer).toString('utf8'))
      const partial: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'partialSuccess') : undefined
      const rejected: unknown = typeof partial === 'object' && partial !== null ? Reflect.get(partial, 'rejectedSpans') : undefined
      return Math.max(0, Number(rejected ?? 0) || 0)
    } catch {
      return 0
    }
  }
  // Field 1 (partial_success), length, field 1 (rejected_spans) as a varint.
  if (answer[0] !== 0x0a || answer[2] !== 0x08) return 0
  let count = 0
  for (let index = 3, scale = 1; index < answer.length; index += 1, scale *= 0x80) {
    const byte = answer[index] ?? 0
    count += (byte & 0x7f) * scale
    if (byte < 0x80) break
  }
  return count
}
