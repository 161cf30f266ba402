// POST /v1/feedback: `{ feedback: [{ project, traceId, stepId?, name, value, comment?, source?, at? }] }`. All or nothing: the list is one person's or one program's.
import type { FeedbackRow } from '@homeground/sdk/trace'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import { longestProject } from '../ingest/check-span.ts'
import type { Queue } from '../queue/types.ts'
import { opens } from './guard.ts'
import { HttpProblem } from './problem.ts'
import { type Body, readBody } from './read-body.ts'
import { encodingOf, refuse } from './refuse.ts'
import type { RouteContext } from './types.ts'

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${digits}}$`), `${digits} hex digits`)
    .transform((id) => id.toLowerCase())

const feedbackSchema = z.strictObject({
  project: z.string().min(1).max(longestProject, `at most ${longestProject} characters`),
  traceId: hex(32),
  stepId: hex(16).optional(),
  name: z.string().min(1),
  value: z.union([z.number(), z.boolean(), z.string()]),
  comment: z.string().optional(),
  source: z.string().min(1).default('user'),
  at: z.iso.datetime({ offset: true }).optional(),
})
const listSchema = z.strictObject({ feedback: z.array(feedbackSchema) })

/** `now`: milliseconds since the epoch, for feedback without a time. */
export function feedbackRoute(queue: Queue, context: RouteContext, now: () => number): RequestHandler {
  return async (request, response) => {
    let body: Body | undefined
    try {
      const key = context.guard.admit(request, 'ingest')
      if (encodingOf(request) !== 'application/json') throw new HttpProblem(415, 'content-type must be application/json')
      body = await readBody(request, context)
      const rows = parse(body.bytes, now)
      if (!rows.every((row) => opens(key, row.project))) throw new HttpProblem(403, 'the key is for another project')
      await queue.publishFeedback(rows)
      response.status(200).json({ accepted: rows.length })
    } catch (error) {
      refuse(request, response, error, context)
    } finally {
      body?.release()
    }
  }
}

function parse(bytes: Buffer, now: () => number): FeedbackRow[] {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new HttpProblem(400, 'the body is no JSON')
  }
  // One by itself or a list: told apart first, so that a fault is told of the form that was meant.
  const isList = typeof value === 'object' && value !== null && 'feedback' in value
  const result = listSchema.safeParse(isList ? value : { feedback: [value] })
  if (!result.success) {
    const issues = result.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `${(isList ? path : path.slice(2)).join('.') || 'body'}: ${message}`)
    throw new HttpProblem(400, `the body is no feedback: ${issues.join('; ')}`)
  }
  return result.data.feedback.map((given) => ({
    project: given.project,
    traceId: given.traceId,
    stepId: given.stepId ?? '',
    name: given.name,
    value: given.value,
    comment: given.comment ?? '',
    source: given.source,
    at: new Date(given.at ?? now()).toISOString(),
  }))
}
