// What a `fetch` call says, as far as it is a model call's request. Reads the arguments and changes nothing.
import { type Endpoint, endpointOf } from './endpoint.ts'

/** What a model was asked. */
export interface ModelRequest {
  url: string
  method: string
  endpoint: Endpoint
  /** The body's text; absent where it is none (a form, a stream), or not here yet. */
  body: string | undefined
  /** Resolves when `body` is filled, where the body had to be read from a Request. */
  pendingBody: Promise<void> | undefined
  /** A streamed body was longer than is read. */
  isLong: boolean
  headers: Headers | undefined
  /** All headers; read late, since most calls never need them. */
  sentHeaders(): Headers
  /** From 1; vendors' clients number their retries in a header. */
  attempt: number
  signal: AbortSignal | undefined
}

/** `undefined` where the request is not recorded: no POST, or no model call. With `every`, all POSTs of a vendor's client are. */
export function readModelRequest(input: unknown, init: unknown, every: boolean): ModelRequest | undefined {
  const request = input instanceof Request ? input : undefined
  const url = request?.url ?? (input instanceof URL ? input.href : String(input))
  const method = text(member(init, 'method')) ?? request?.method ?? 'GET'
  if (method.toUpperCase() !== 'POST') return undefined
  const endpoint = endpointOf(url, every)
  if (endpoint === undefined) return undefined
  const given = member(init, 'headers') ?? request?.headers
  const made: ModelRequest = {
    url,
    method,
    endpoint,
    body: bodyText(member(init, 'body')),
    pendingBody: undefined,
    isLong: false,
    headers: given instanceof Headers ? given : undefined,
    sentHeaders: () => headersOf(input, init),
    attempt: 1,
    signal: signalOf(member(init, 'signal')) ?? request?.signal,
  }
  const retry = given instanceof Headers ? given.get('x-stainless-retry-count') : text(member(given, 'x-stainless-retry-count'))
  if (retry !== null && retry !== undefined) made.attempt = Number(retry) + 1 || 1
  if (request !== undefined && made.body === undefined && request.body !== null) {
    made.pendingBody = bodyOf(request.clone()).then(
      (body) => {
        made.body = body
        made.isLong = body === undefined
      },
      // The product's own reading of it fails too, and is the one who says so.
      () => undefined,
    )
  }
  return made
}

/** All headers, for a replay that wants to see them. */
export function headersOf(input: unknown, init: unknown): Headers {
  const given: unknown = member(init, 'headers') ?? (input instanceof Request ? input.headers : undefined)
  const headers = new Headers()
  const pairs: Iterable<readonly [string, unknown]> =
    given instanceof Headers ? given : Array.isArray(given) ? given : Object.entries(given ?? {})
  for (const [name, value] of pairs) headers.set(name, String(value))
  return headers
}

/** A longer body of a Request is not recorded: reading our branch of it to its end would keep all that the network has not taken yet. */
const longestRead = 16 * 1024 * 1024

async function bodyOf(request: Request): Promise<string | undefined> {
  const reader = request.body?.getReader()
  const parts: Uint8Array[] = []
  let size = 0
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    size += next.value.byteLength
    if (size > longestRead) {
      // Gives our branch up. Not awaited: a branch is cancelled only once the other one, which the network reads, is too.
      reader?.cancel().catch(() => undefined)
      return undefined
    }
    parts.push(next.value)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

function bodyText(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  if (body instanceof ArrayBuffer) return Buffer.from(body).toString('utf8')
  return undefined
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function signalOf(value: unknown): AbortSignal | undefined {
  return value instanceof AbortSignal ? value : undefined
}
