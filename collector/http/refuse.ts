// How every route says no.
import type { Request, Response } from 'express'
import { answerProblem, type OtlpEncoding } from './otlp-answer.ts'
import { HttpProblem, problemOf } from './problem.ts'
import type { RouteContext } from './types.ts'

/** Answers with the problem that the error means, in the encoding of the request, and logs what is the collector's own fault. */
export function refuse(request: Request, response: Response, error: unknown, { log }: Pick<RouteContext, 'log'>): void {
  const problem = problemOf(error)
  if (problem.status >= 500)
    log.error({ error: error instanceof Error ? error.message : String(error), path: request.path }, 'request failed')
  // The rest of a body that was not read: the connection is of no more use.
  if (!request.complete) response.set('connection', 'close')
  // RFC 9110, 15.5.2: a 401 says how to come in.
  if (problem.status === 401) response.set('www-authenticate', 'Bearer')
  answerProblem(response, mediaType(request).endsWith('protobuf') ? 'application/x-protobuf' : 'application/json', problem)
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
