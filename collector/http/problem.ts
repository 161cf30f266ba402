// What the collector answers when it does not take a request. The message never holds content of the request, nor a key.
import { HomegroundError } from '@homeground/sdk/trace'

/** 400 and 415 and 413 are final: no sender should try again. 429 and 503 carry Retry-After. */
export class HttpProblem extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503
  readonly retryAfterSeconds: number | undefined

  constructor(status: HttpProblem['status'], message: string, options: { retryAfterSeconds?: number } = {}) {
    super(message)
    this.name = 'HttpProblem'
    this.status = status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Whatever was thrown as the answer that it means. */
export function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (HomegroundError.is(error)) {
    if (error.retryable || error.code === 'store-unavailable')
      return new HttpProblem(503, 'the store is away; send it again later', { retryAfterSeconds: 2 })
    if (error.code === 'invalid-input' || error.code === 'invalid-argument') return new HttpProblem(400, error.message)
  }
  return new HttpProblem(500, 'the collector failed; its log says why')
}
