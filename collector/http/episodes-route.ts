// GET /v1/episodes: whole episodes as JSON Lines, by query (`project`, `agent`, `model`, `session`, `user`, `tool`, `source`, `run`, `from`, `to`, `limit`, `tags.NAME`, `feedback.NAME`).
import { formatEpisodeLine } from '@homeground/sdk/trace'
import type { Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { type EpisodeQuery, feedbackValue, type Store } from '../../store/index.ts'
import type { Key } from '../keys/key-file.ts'
import { opens } from './guard.ts'
import { HttpProblem } from './problem.ts'
import { refuse } from './refuse.ts'
import type { RouteContext } from './types.ts'

const text = z.string().min(1).max(1_000)
const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]).transform((value) => new Date(value).toISOString())
const querySchema = z.strictObject({
  project: text.optional(),
  agent: text.optional(),
  model: text.optional(),
  session: text.optional(),
  user: text.optional(),
  tool: text.optional(),
  source: z.enum(['trace', 'rollout', 'import']).optional(),
  run: text.optional(),
  from: time.optional(),
  to: time.optional(),
  limit: z.coerce.number().int().min(1).max(100_000).optional(),
})

export function episodesRoute(store: Pick<Store, 'episodes'>, context: RouteContext): RequestHandler {
  return async (request, response) => {
    try {
      const query = queryOf(request, context.guard.admit(request, 'read'))
      let isStarted = false
      for await (const episode of store.episodes(query)) {
        if (!isStarted) response.status(200).type('application/x-ndjson')
        isStarted = true
        if (!response.write(`${formatEpisodeLine(episode)}\n`)) await takesMore(response)
        if (response.destroyed) return
      }
      if (!isStarted) response.status(200).type('application/x-ndjson')
      response.end()
    } catch (error) {
      // In mid-answer the only honest end is a broken connection.
      if (response.headersSent) response.destroy()
      else refuse(request, response, error, context)
    }
  }
}

/** Resolves when what was written has gone out, or the reader has. */
function takesMore(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function queryOf(request: Request, key: Key | undefined): EpisodeQuery {
  const given = new URL(request.originalUrl, 'http://collector').searchParams
  const plain: Record<string, string> = {}
  const tags: Record<string, string> = {}
  let feedback: EpisodeQuery['feedback']
  for (const [name, value] of given) {
    if (name.startsWith('tags.')) tags[name.slice(5)] = value
    else if (name.startsWith('feedback.')) feedback = { name: name.slice(9), ...(value === '' ? {} : { value: feedbackValue(value) }) }
    else plain[name] = value
  }
  const result = querySchema.safeParse(plain)
  if (!result.success)
    throw new HttpProblem(400, result.error.issues.map((issue) => `${issue.path.join('.') || 'query'}: ${issue.message}`).join('; '))
  const project = result.data.project ?? (key === undefined || key.project === '*' ? undefined : key.project)
  if (project === undefined) throw new HttpProblem(400, 'project: say which')
  if (!opens(key, project)) throw new HttpProblem(403, 'the key is for another project')
  const said = Object.fromEntries(Object.entries(result.data).filter(([, value]) => value !== undefined))
  return { ...said, project, ...(Object.keys(tags).length === 0 ? {} : { tags }), ...(feedback === undefined ? {} : { feedback }) }
}
