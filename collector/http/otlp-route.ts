// POST /v1/traces and /v1/logs: OTLP/HTTP. The answer comes once what was taken is durable.
import type { RequestHandler } from 'express'
import { TooDeep } from '../ingest/check-span.ts'
import { decodeJsonLogs, decodeProtobufLogs } from '../ingest/logs.ts'
import { ownFeedback, ownProject } from '../ingest/own-project.ts'
import { rejectionMessage, rowsOf } from '../ingest/rows-of.ts'
import { decodeJsonTraces } from '../ingest/traces-json.ts'
import { decodeProtobufTraces } from '../ingest/traces-protobuf.ts'
import type { Rejection } from '../ingest/types.ts'
import type { Key } from '../keys/key-file.ts'
import type { Queue } from '../queue/types.ts'
import { answerSuccess, type OtlpEncoding } from './otlp-answer.ts'
import { HttpProblem } from './problem.ts'
import { type Body, readBody } from './read-body.ts'
import { encodingOf, refuse } from './refuse.ts'
import type { RequestCounts } from './request-counts.ts'
import type { RouteContext } from './types.ts'

export function tracesRoute(queue: Queue, context: RouteContext, counts: Pick<RequestCounts, 'took'>): RequestHandler {
  return otlpRoute(context, 'rejectedSpans', async (bytes, encoding, key) => {
    const decoded = decode(() => (encoding === 'application/json' ? decodeJsonTraces(bytes.toString('utf8')) : decodeProtobufTraces(bytes)))
    const read = rowsOf(decoded)
    const { rows, rejected } = ownProject(read.rows, key)
    // Of a span that is refused its evaluations are too; it is counted once.
    const feedback = ownFeedback(read.feedback, key)
    await Promise.all([queue.publishSpans(rows, bytes.length), queue.publishFeedback(feedback.rows)])
    counts.took(rows.length, read.rejected.length + rejected.length)
    return [...read.rejected, ...rejected]
  })
}

export function logsRoute(queue: Queue, context: RouteContext): RequestHandler {
  return otlpRoute(context, 'rejectedLogRecords', async (bytes, encoding, key) => {
    const read = decode(() => (encoding === 'application/json' ? decodeJsonLogs(bytes.toString('utf8')) : decodeProtobufLogs(bytes)))
    const { rows, rejected } = ownProject(read.rows, key)
    const feedback = ownFeedback(read.feedback, key)
    await Promise.all([queue.publishSpans(rows, bytes.length), queue.publishFeedback(feedback.rows)])
    return [...read.rejected, ...rejected, ...feedback.rejected]
  })
}

/** `take`: makes the good part durable and gives back what it refused. */
function otlpRoute(
  context: RouteContext,
  what: 'rejectedSpans' | 'rejectedLogRecords',
  take: (bytes: Buffer, encoding: OtlpEncoding, key: Key | undefined) => Promise<Rejection[]>,
): RequestHandler {
  return async (request, response) => {
    let body: Body | undefined
    try {
      const key = context.guard.admit(request, 'ingest')
      const encoding = encodingOf(request)
      body = await readBody(request, context)
      const rejected = await take(body.bytes, encoding, key)
      const message = rejectionMessage(rejected)
      if (rejected.length > 0) context.log.warn({ rejected: rejected.length, message }, 'part of a request refused')
      answerSuccess(response, encoding, { what, rejected: rejected.length, message })
    } catch (error) {
      refuse(request, response, error, context)
    } finally {
      body?.release()
    }
  }
}

function decode<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof TooDeep) throw new HttpProblem(400, `of the resource or a log record: ${error.message}`)
    throw new HttpProblem(400, 'the body is not an OTLP export in the encoding that its content-type names')
  }
}
