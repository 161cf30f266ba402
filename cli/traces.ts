// `homeground traces list|show`: what was collected.
import path from 'node:path'
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import type { EpisodeQuery, Store } from '../store/index.ts'
import { episodeText } from './episode-text.ts'
import { countOf, tagOf, timeOf } from './option-values.ts'
import { homegroundFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'
import { withStore } from './with-store.ts'

interface ListOptions {
  folder?: string
  agent?: string
  model?: string
  session?: string
  user?: string
  tool?: string
  tag: Record<string, string>
  source?: 'trace' | 'rollout' | 'import'
  run?: string
  from?: string
  to?: string
  limit: number
}

export function register(program: Command): void {
  const traces = program.command('traces').description('what was collected')
  traces
    .command('list')
    .description('one line an episode, newest first')
    .argument('[project]', 'a project; without it the projects are listed')
    .addOption(folderOption())
    .option('--agent <NAME>', 'of this agent')
    .option('--model <NAME>', 'with a call of this model')
    .option('--session <ID>', 'of this session')
    .option('--user <ID>', 'of this user')
    .option('--tool <NAME>', 'with a call of this tool')
    .addOption(new Option('--tag <NAME=VALUE>', 'with this tag; may be given again').argParser(tagOf).default({}, 'any'))
    .addOption(new Option('--source <KIND>', 'from there').choices(['trace', 'rollout', 'import']))
    .option('--run <ID>', 'of this run')
    .option('--from <TIME>', 'started at or after it (ISO 8601)', timeOf)
    .option('--to <TIME>', 'started before it (ISO 8601)', timeOf)
    .option('--limit <N>', 'so many at most', countOf, 50)
    .action(async (project: string | undefined, options: ListOptions, command: Command) => {
      await withStore(options, (store) =>
        project === undefined ? listProjects(store, options, command) : listEpisodes(store, project, options, command),
      )
    })
  traces
    .command('show')
    .description('a readable episode in the terminal')
    .argument(
      '<id>',
      'an episode id, or a trace id for all episodes of the trace; of a trace id the first characters are enough where no other begins so',
    )
    .addOption(folderOption())
    .option('--project <NAME>', 'look in this project only')
    .action(async (id: string, options: { folder?: string; project?: string }, command: Command) => {
      await withStore(options, async (store) => {
        const episodes = await find(store, id.toLowerCase(), options.project)
        process.stdout.write(
          wantsJson(command) ? episodes.map((episode) => `${JSON.stringify(episode)}\n`).join('') : episodes.map(episodeText).join('\n'),
        )
      })
    })
}

async function listProjects(store: Store, options: ListOptions, command: Command): Promise<void> {
  const counts = await store.counts()
  if (wantsJson(command)) process.stdout.write(`${JSON.stringify(counts)}\n`)
  else if (counts.length === 0)
    process.stdout.write(
      `nothing collected yet in ${placeOf(options)}; \`homeground up\` says what a product needs, --folder or HOMEGROUND_FOLDER names another store\n`,
    )
  else {
    const rows = counts.map((count) => [count.project, String(count.episodes), String(count.modelCalls), String(count.toolCalls)])
    process.stdout.write(table(['project', 'episodes', 'model calls', 'tool calls'], rows))
  }
}

async function listEpisodes(store: Store, project: string, options: ListOptions, command: Command): Promise<void> {
  const summaries = await store.traces(queryOf(project, options))
  if (wantsJson(command)) {
    process.stdout.write(`${JSON.stringify(summaries)}\n`)
    return
  }
  if (summaries.length === 0) {
    await refuseUnknown(store, project)
    process.stdout.write('no episode fits; loosen the options\n')
    return
  }
  const rows = summaries.map((summary) => [
    summary.startedAt.slice(0, 19).replace('T', ' '),
    summary.trace,
    summary.agent,
    summary.session,
    `${summary.modelCalls}+${summary.toolCalls}`,
    `${summary.inputTokens}/${summary.outputTokens}`,
    `${(summary.durationMs / 1000).toFixed(1)} s`,
    summary.errors === 0 ? '' : String(summary.errors),
    short(summary.inputPreview),
  ])
  process.stdout.write(table(['started', 'trace', 'agent', 'session', 'calls', 'tokens', 'took', 'errors', 'input'], rows))
}

/** A misspelt project must not look like an empty one. */
async function refuseUnknown(store: Store, project: string): Promise<void> {
  const known = (await store.counts()).map((count) => count.project)
  if (known.includes(project)) return
  throw new HomegroundError('not-found', `there is no project ${inert(project)}`, {
    hint:
      known.length === 0
        ? 'nothing is collected in this store yet'
        : `the projects are ${known
            .slice(0, 20)
            .map((name) => inert(name))
            .join(', ')}`,
  })
}

async function find(store: Store, id: string, project: string | undefined): Promise<Episode[]> {
  const projects = project === undefined ? (await store.counts()).map((count) => count.project) : [project]
  // Services of several projects may have a trace together.
  const found: Episode[] = []
  for (const name of projects) found.push(...(await store.episode(name, id)))
  if (found.length > 0) return found
  const [only, ...others] = id.length < 32 && /^[0-9a-f]+$/.test(id) ? await store.tracesBeginning(id, project) : []
  if (only !== undefined && others.length === 0) return await store.episode(only.project, only.trace)
  if (only !== undefined) {
    throw new HomegroundError('invalid-argument', `several traces begin with ${inert(id)}`, {
      hint: `give more of one of ${[only, ...others].map(({ trace }) => trace).join(', ')}`,
    })
  }
  throw new HomegroundError(
    'not-found',
    `there is no episode or trace ${inert(id)}${project === undefined ? '' : ` in project ${inert(project)}`}`,
    {
      hint: '`homeground traces list PROJECT` lists the ids; `homeground traces list` the projects',
    },
  )
}

function placeOf(options: ListOptions): string {
  return process.env['HOMEGROUND_CLICKHOUSE_URL'] === undefined ? inert(path.resolve(homegroundFolder(options.folder))) : 'this ClickHouse'
}

function queryOf(project: string, options: ListOptions): EpisodeQuery {
  const { agent, model, session, user, tool, source, run, from, to, limit } = options
  const given = { agent, model, session, user, tool, source, run, from, to }
  return { project, limit, tags: options.tag, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
