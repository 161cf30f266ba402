// Episodes named on the command line: a file of them, or a query of the store as NAME=VALUE pairs joined by commas.
import fs from 'node:fs'
import { type Episode, expandEpisodeLine, HomegroundError, readJsonLines } from '@homeground/sdk/trace'
import { type EpisodeQuery, feedbackValue, openStore } from '../store/index.ts'
import { environmentWith } from './store-options.ts'
import { inert } from './terminal.ts'

const example = 'for example project=tau-airline,source=import, or a file of episodes (JSON Lines, .gz too)'

export interface OpenEpisodes {
  /** Each call reads them anew. */
  read(): AsyncIterable<Episode>
  close(): Promise<void>
}

/** @throws HomegroundError invalid-argument: neither a file that is there nor a query */
export async function openEpisodes(text: string, folder: string | undefined): Promise<OpenEpisodes> {
  if (!text.includes('=') || fs.existsSync(text)) return { read: () => readFile(text), close: async () => {} }
  const query = queryOf(text)
  const store = await openStore({ environment: environmentWith({ HOMEGROUND_FOLDER: folder }) })
  return { read: () => store.episodes(query), close: () => store.close() }
}

async function* readFile(file: string): AsyncGenerator<Episode> {
  if (!fs.existsSync(file))
    throw new HomegroundError('not-found', `${inert(file)}: there is no such file, and it is no query`, { hint: example })
  for await (const { value, line } of readJsonLines(file)) yield expandEpisodeLine(value, `${file}:${line}`)
}

/** `project` is needed; `tags.NAME` and `feedback.NAME` take a value each. */
export function queryOf(text: string): EpisodeQuery {
  const query: EpisodeQuery = { project: '' }
  for (const part of text.split(',').map((item) => item.trim())) {
    const at = part.indexOf('=')
    const name = part.slice(0, at)
    const value = part.slice(at + 1)
    if (at <= 0 || value === '') throw new HomegroundError('invalid-argument', `${inert(part)} is not NAME=VALUE`, { hint: example })
    put(query, name, value)
  }
  if (query.project === '') throw new HomegroundError('invalid-argument', `the query ${inert(text)} names no project`, { hint: example })
  return query
}

function put(query: EpisodeQuery, name: string, value: string): void {
  switch (name) {
    case 'project':
    case 'agent':
    case 'model':
    case 'session':
    case 'user':
    case 'tool':
    case 'run':
    case 'from':
    case 'to':
      query[name] = value
      return
    case 'source':
      if (value !== 'trace' && value !== 'rollout' && value !== 'import')
        throw new HomegroundError('invalid-argument', `source=${inert(value)} does not exist`, {
          hint: 'source is trace, rollout or import',
        })
      query.source = value
      return
    default:
  }
  if (name.startsWith('tags.')) query.tags = { ...query.tags, [name.slice(5)]: value }
  else if (name.startsWith('feedback.')) query.feedback = { name: name.slice(9), value: feedbackValue(value) }
  else
    throw new HomegroundError('invalid-argument', `episodes are not found by ${inert(name)}`, {
      hint: 'use project, agent, model, session, user, tool, run, from, to, source, tags.NAME or feedback.NAME',
    })
}
