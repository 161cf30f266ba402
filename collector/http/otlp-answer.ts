// OTLP's answers, in the encoding of the request: full or partial success, or a google.rpc.Status.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Response } from 'express'
import type { HttpProblem } from './problem.ts'

export type OtlpEncoding = 'application/json' | 'application/x-protobuf'

/** 200. `rejected` 0: everything was taken. `what`: the name of the count in JSON. */
export function answerSuccess(
  response: Response,
  encoding: OtlpEncoding,
  outcome: { what: 'rejectedSpans' | 'rejectedLogRecords'; rejected: number; message: string },
): void {
  response.status(200).type(encoding)
  const { what, rejected, message } = outcome
  if (encoding === 'application/json') {
    response.send(JSON.stringify(rejected === 0 ? {} : { partialSuccess: { [what]: String(rejected), errorMessage: message } }))
  } else if (rejected === 0) response.end()
  else {
    const partial = new BinaryWriter().tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(message).finish()
    response.send(Buffer.from(new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partial).finish()))
  }
}

/** A refusal with its status; Retry-After where trying again makes sense. */
export function answerProblem(response: Response, encoding: OtlpEncoding, problem: HttpProblem): void {
  response.status(problem.status).type(encoding)
  if (problem.retryAfterSeconds !== undefined) response.set('retry-after', String(problem.retryAfterSeconds))
  const code = rpcCodes[problem.status]
  if (encoding === 'application/json') response.send(JSON.stringify({ code, message: problem.message }))
  else {
    const status = new BinaryWriter().tag(1, WireType.Varint).int32(code).tag(2, WireType.LengthDelimited).string(problem.message).finish()
    response.send(Buffer.from(status))
  }
}

/** google.rpc.Code. */
const rpcCodes: Record<HttpProblem['status'], number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  413: 3,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
}
