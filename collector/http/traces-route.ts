// POST /v1/traces: OTLP/HTTP. The answer comes once the spans are durable.
import type { Request, RequestHandler, Response } from 'express'
import { decodeJsonTraces } from '../ingest/otlp-json.ts'
import { decodeProtobufTraces } from '../ingest/otlp-protobuf.ts'
import { rejectionMessage, rowsOf } from '../ingest/rows-of.ts'
import type { DecodedSpans } from '../ingest/types.ts'
import type { Queue } from '../queue/types.ts'
import { answerProblem, answerSuccess, type OtlpEncoding } from './otlp-answer.ts'
import { HttpProblem, problemOf } from './problem.ts'
import { type Body, readBody } from './read-body.ts'
import type { RouteContext } from './types.ts'

export function tracesRoute(queue: Queue, context: RouteContext): RequestHandler {
  return async (request, response) => {
    let body: Body | undefined
    try {
      const encoding = encodingOf(request)
      body = await readBody(request, context)
      const { rows, rejected } = rowsOf(decode(body.bytes, encoding))
      await queue.publishSpans(rows, body.bytes.length)
      if (rejected.length > 0) context.log.warn({ rejected: rejected.length, reasons: rejectionMessage(rejected) }, 'spans refused')
      answerSuccess(response, encoding, { what: 'rejectedSpans', rejected: rejected.length, message: rejectionMessage(rejected) })
    } catch (error) {
      refuse(request, response, error, context)
    } finally {
      body?.release()
    }
  }
}

/** Answers with the problem that the error means, in the encoding of the request, and logs what is the collector's own fault. */
export function refuse(request: Request, response: Response, error: unknown, context: RouteContext): void {
  const problem = problemOf(error)
  if (problem.status >= 500)
    context.log.error({ error: error instanceof Error ? error.message : String(error), path: request.path }, 'request failed')
  // The rest of a body that was not read: the connection is of no more use.
  if (!request.complete) response.set('connection', 'close')
  answerProblem(response, mediaType(request) === 'application/x-protobuf' ? 'application/x-protobuf' : 'application/json', problem)
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

function decode(bytes: Buffer, encoding: OtlpEncoding): DecodedSpans {
  try {
    return encoding === 'application/json' ? decodeJsonTraces(bytes.toString('utf8')) : decodeProtobufTraces(bytes)
  } catch {
    throw new HttpProblem(400, `the body is no OTLP trace export in ${encoding}`)
  }
}
