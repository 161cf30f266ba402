// The collector's HTTP surface: which path does what.
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { Store } from '../../store/index.ts'
import type { Queue } from '../queue/types.ts'
import { episodesRoute } from './episodes-route.ts'
import { feedbackRoute } from './feedback-route.ts'
import { metricsText } from './metrics.ts'
import { logsRoute, tracesRoute } from './otlp-route.ts'
import { HttpProblem } from './problem.ts'
import { refuse } from './refuse.ts'
import { RequestCounts } from './request-counts.ts'
import type { RouteContext } from './types.ts'

export interface AppOptions extends RouteContext {
  queue: Queue
  /** Whether it takes spans and feedback. */
  accepts: boolean
  /** True once the process is shutting down: then it takes nothing new. */
  isDraining(): boolean
  /** Answers GET /v1/episodes; a process without a store has none. */
  store?: Pick<Store, 'episodes'> | undefined
  now(): number
}

export function createApp(options: AppOptions): Express {
  const { queue, accepts, now, isDraining } = options
  const app = express()
  const counts = new RequestCounts()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.use((request: Request, response: Response, next: NextFunction) => {
    counts.watch(request, response)
    response.set({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    next()
  })
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  app.get('/readyz', async (_request, response) => {
    const ready = !isDraining() && (await queue.ready())
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : isDraining() ? 'draining' : 'store or broker away' })
  })
  app.get('/metrics', async (request, response) => {
    options.guard.admit(request, 'read')
    const held = {
      name: 'homeground_bytes_in_flight',
      help: 'Bytes of requests held now.',
      type: 'gauge',
      samples: [{ value: options.budget.used }],
    } as const
    response.type('text/plain; version=0.0.4').send(metricsText([held, ...counts.metrics(), ...((await queue.metrics?.()) ?? [])]))
  })
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (isDraining() && request.method === 'POST')
      refuse(request, response, new HttpProblem(503, 'the collector is going down', { retryAfterSeconds: 2 }), options)
    else next()
  })
  if (accepts) {
    app.post('/v1/traces', tracesRoute(queue, options, counts))
    app.post('/v1/logs', logsRoute(queue, options))
    app.post('/v1/feedback', feedbackRoute(queue, options, now))
  }
  if (options.store !== undefined) app.get('/v1/episodes', episodesRoute(options.store, options))
  app.all(['/v1/traces', '/v1/logs', '/v1/feedback'], (request, response) => {
    response.set('allow', accepts ? 'POST' : '')
    refuse(
      request,
      response,
      new HttpProblem(405, accepts ? 'use POST' : 'this process only ingests: send to one with the role receive'),
      options,
    )
  })
  app.use((request: Request, response: Response) =>
    refuse(request, response, new HttpProblem(404, 'there is nothing at this path'), options),
  )
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => refuse(request, response, error, options))
  return app
}
