// How every route says no.

import { errorText } from '@homeground/sdk/trace'
import type { Request, Response } from 'express'
import { answerProblem, type OtlpEncoding } from './otlp-answer.ts'
import { HttpProblem, problemOf } from './problem.ts'
import type { RouteContext } from './types.ts'

/** Answers with the problem that the error means, in the encoding of the request, and logs what is the collector's own fault. */
export function refuse(request: Request, response: Response, error: unknown, { log }: Pick<RouteContext, 'log'>): void {
  const problem = problemOf(error)
  if (problem.status >= 500) log.error({ error: errorText(error), path: request.path }, 'request failed')
  if (!request.complete) holdOpen(request, response)
  // RFC 9110, 15.5.2: a 401 says how to come in.
  if (problem.status === 401) response.set('www-authenticate', 'Bearer')
  answerProblem(response, mediaType(request).endsWith('protobuf') ? 'application/x-protobuf' : 'application/json', problem)
}

/** Bytes and time that a sender has to come to the end of a body that is refused. */
const lingerBytes = 256 * 1024 * 1024
const lingerMs = 5_000

/**
 * The answer goes out at once, its end with the connection only when the sender has sent the rest, which is dropped. Closed before, the answer is lost on the way:
 * a sender sees a broken pipe, which is a reason to send the same again, where 413 is none (RFC 9112, 9.6).
 */
function holdOpen(request: Request, response: Response): void {
  response.set('connection', 'close')
  const end = response.end.bind(response)
  const finish = (): void => {
    clearTimeout(timer)
    if (!response.writableEnded) end()
  }
  const timer = setTimeout(finish, lingerMs).unref()
  let dropped = 0
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > lingerBytes) finish()
  })
  request.once('end', finish).once('close', finish).once('error', finish)
  request.resume()
  response.end = (...given: unknown[]) => {
    const [body] = given
    if (typeof body === 'string' || Buffer.isBuffer(body)) response.write(body)
    if (request.complete || request.destroyed) finish()
    return response
  }
}

/** @throws HttpProblem 415 */
export function encodingOf(request: Request): OtlpEncoding {
  switch (mediaType(request)) {
    case 'application/x-protobuf':
    case 'application/protobuf':
      return 'application/x-protobuf'
    case 'application/json':
      return 'application/json'
    default:
      throw new HttpProblem(415, 'content-type must be application/x-protobuf or application/json')
  }
}

function mediaType(request: Request): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
