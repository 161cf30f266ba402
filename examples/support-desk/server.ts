// The desk over HTTP: open a session, say something, rate an answer. The quality team's notes come in by the same door.
import type { Homeground } from '@homeground/sdk'
import express from 'express'
import { z } from 'zod'
import type { DeskAgent } from './agent.ts'
import type { Sessions } from './sessions.ts'
import { type Shop, ShopError } from './shop.ts'

const openSchema = z.strictObject({ customer: z.string() })
const messageSchema = z.strictObject({ text: z.string().min(1).max(4_000) })
const ratingSchema = z.strictObject({ helpful: z.boolean(), comment: z.string().max(1_000).optional() })
const reviewSchema = z.strictObject({
  reviewer: z.string().min(1),
  /** The calls that a right answer makes, and no others that change something. */
  actions: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.string()) })),
  /** Texts that a right answer contains. */
  outputs: z.array(z.string()),
})

export interface ServerParts {
  hg: Homeground
  shop: Shop
  sessions: Sessions
  answer: DeskAgent
}

/** The product's HTTP interface; `listen` is the caller's. */
export function createServer({ hg, shop, sessions, answer }: ServerParts): express.Express {
  const app = express()
  app.use(express.json({ limit: '100kb' }))

  app.post('/sessions', (request, response) => {
    const { customer } = openSchema.parse(request.body)
    response.status(201).json({ session: sessions.open(shop.customer(customer).id).id })
  })

  app.get('/sessions/:session', (request, response) => {
    const session = sessionOf(request.params.session)
    response.json({ session: session.id, customer: session.customer, turns: session.turns })
  })

  app.post('/sessions/:session/messages', async (request, response) => {
    const { text } = messageSchema.parse(request.body)
    const session = sessionOf(request.params.session)
    const reply = await answer({ message: text, customer: session.customer, session: session.id })
    response.json({ message: sessions.answered(session.id, text, reply), reply })
  })

  app.post('/sessions/:session/messages/:message/rating', (request, response) => {
    const { helpful, comment } = ratingSchema.parse(request.body)
    const trace = traceOf(request.params)
    hg.feedback('helpful', helpful, { trace, source: 'user', ...(comment === undefined ? {} : { comment }) })
    response.status(204).end()
  })

  app.post('/sessions/:session/messages/:message/review', (request, response) => {
    const { reviewer, actions, outputs } = reviewSchema.parse(request.body)
    const trace = traceOf(request.params)
    hg.feedback('expected_actions', JSON.stringify(actions), { trace, source: reviewer })
    hg.feedback('expected_outputs', JSON.stringify(outputs), { trace, source: reviewer })
    response.status(204).end()
  })

  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    if (error instanceof z.ZodError) response.status(400).json({ error: z.prettifyError(error) })
    else if (error instanceof ShopError) response.status(404).json({ error: error.message })
    else if (isBodyError(error)) response.status(error.status).json({ error: error.message })
    else response.status(502).json({ error: error instanceof Error ? error.message : 'the desk could not answer' })
  })
  return app

  function sessionOf(id: string) {
    const session = sessions.get(id)
    if (session === undefined) throw new ShopError('no such session')
    return session
  }

  function traceOf({ session, message }: { session: string; message: string }): string {
    const trace = sessionOf(session).answers.get(message)
    if (trace === undefined) throw new ShopError('no such message')
    return trace
  }
}

/** What express.json says of a body that is no JSON, or too large. A model client's errors have a status too, but it is not the customer's fault. */
function isBodyError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'expose' in error && error.expose === true && 'status' in error && typeof error.status === 'number'
}
