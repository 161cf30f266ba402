// `homeground env build`: selects episodes from the store or from files and writes an environment folder.
import fs from 'node:fs'
import path from 'node:path'
import { type Episode, expandEpisodeLine, HomegroundError, type Json, parseInput, readJsonFile, readJsonLines } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { type BuildOptions, type Built, buildEnvironment } from '../replay/environment/build.ts'
import { selectionLines } from '../replay/environment/select.ts'
import { effectSchema, type HarnessSettings, type ToolOverride, toolOverrideSchema } from '../replay/environment/types.ts'
import { parseRubric } from '../replay/rubric/parse-rubric.ts'
import { type EpisodeQuery, openStore } from '../store/index.ts'
import { addSelectionOptions, type SelectionOptions, selected } from './env-selection.ts'
import { keepHeapLean } from './lean-heap.ts'
import { countOf, feedbackOf, splitsOf, tagOf, timeOf } from './option-values.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert, shellWord } from './terminal.ts'
import { version } from './version.ts'

interface BuildCommandOptions extends SelectionOptions {
  folder?: string
  project?: string
  episodes?: string[]
  agent?: string
  model?: string
  session?: string
  user?: string
  tool?: string
  tag: Record<string, string>
  feedback?: NonNullable<EpisodeQuery['feedback']>
  source?: 'trace' | 'rollout' | 'import'
  run?: string
  from?: string
  to?: string
  limit?: number
  out?: string
  harness?: HarnessSettings['kind']
  module?: string
  command?: string
  maxSteps?: number
  timeout?: number
  unit?: 'turn' | 'episode' | 'session'
  tools?: string
  rubric?: string
  reference?: 'feedback' | 'recorded'
  splits?: { train: number; validation: number; test: number }
  splitBy?: 'session' | 'user'
  licence?: string
  redacted?: true
}

export function registerBuild(env: Command): void {
  const command = env
    .command('build')
    .description('make an environment of recorded episodes')
    .argument('<name>', "the environment's name")
    .addOption(folderOption())
    .option('--project <NAME>', 'episodes of this project in the store')
    .option('--episodes <FILE...>', 'episodes of these files (JSON Lines, .gz too) instead of the store')
    .option('--agent <NAME>', 'of this agent')
    .option('--model <NAME>', 'with a call of this model')
    .option('--session <ID>', 'of this session')
    .option('--user <ID>', 'of this user')
    .option('--tool <NAME>', 'with a call of this tool')
    .addOption(new Option('--tag <NAME=VALUE>', 'with this tag; may be given again').argParser(tagOf).default({}, 'any'))
    .option('--feedback <NAME[=VALUE]>', 'with feedback of this name (and value)', feedbackOf)
    .addOption(new Option('--source <KIND>', 'from there').choices(['trace', 'rollout', 'import']))
    .option('--run <ID>', 'of this run')
    .option('--from <TIME>', 'started at or after it (ISO 8601)', timeOf)
    .option('--to <TIME>', 'started before it (ISO 8601)', timeOf)
    .option('--limit <N>', 'so many episodes at most, the earliest', countOf)
  addSelectionOptions(command)
    .option('--out <FOLDER>', 'where the environment folder is to stand (default: NAME, here)')
    .addOption(
      new Option('--harness <KIND>', 'how tasks are played (default: module where --module is given, else by the data)').choices([
        'turn',
        'loop',
        'module',
        'command',
      ]),
    )
    .option('--module <FILE#EXPORT>', "the product's agent function, for harness module")
    .option('--command <LINE>', "the product's program with its arguments, for harness command; it runs in the current folder")
    .option('--max-steps <N>', 'model calls a loop may make', countOf, 50)
    .option('--timeout <MS>', 'time a rollout of the product may take', countOf, 120_000)
    .addOption(new Option('--unit <UNIT>', 'what a task is').choices(['turn', 'episode', 'session']))
    .option('--tools <FILE>', 'settings of tools (JSON: { NAME: { effect, mode, onMiss, … } }, or definitions with an effect)')
    .option('--rubric <FILE>', 'a rubric instead of the drafted one')
    .addOption(new Option('--reference <FROM>', 'what the right answer is taken from').choices(['feedback', 'recorded']))
    .option('--splits <T/V/T>', 'shares of train, validation and test (default: 60/20/20)', splitsOf)
    .addOption(new Option('--split-by <WHAT>', 'what must not straddle a split').choices(['session', 'user']))
    .option('--licence <NAME>', 'licence of the data, for the card')
    .option('--redacted', 'the data has been redacted, for the card')
    .action(async (name: string, options: BuildCommandOptions, command: Command) => {
      keepHeapLean()
      const built = await build(name, options)
      process.stdout.write(wantsJson(command) ? `${JSON.stringify(summaryOf(built))}\n` : builtText(built))
    })
}

async function build(name: string, options: BuildCommandOptions): Promise<Built> {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._ -]{0,99}$/u.test(name))
    throw new HomegroundError('invalid-argument', `${inert(name)} is no name for an environment`, {
      hint: 'use letters, digits, dot, dash, underscore and space, at most 100; --out says in which folder it goes',
    })
  const folder = options.out ?? name
  const harness = harnessOf(options, folder)
  const settings = {
    name,
    folder,
    homeground: version,
    ...(harness === undefined ? {} : { harness }),
    ...(options.unit === undefined ? {} : { unit: options.unit }),
    ...(options.tools === undefined ? {} : { tools: readTools(options.tools) }),
    ...(options.rubric === undefined
      ? {}
      : { rubric: parseRubric(readJsonFile(options.rubric, { broken: 'mend the file' }), options.rubric) }),
    ...(options.reference === undefined ? {} : { reference: options.reference }),
    ...(options.splits === undefined ? {} : { splits: options.splits }),
    ...(options.splitBy === undefined ? {} : { splitBy: options.splitBy }),
    ...(options.licence === undefined ? {} : { licence: options.licence }),
    redacted: options.redacted === true,
  }
  const files = options.episodes
  if (files !== undefined) {
    const { episodes, ...chosen } = await selected(() => limited(episodesOfFiles(files), options.limit), options)
    return await buildEnvironment(episodes, {
      ...settings,
      ...chosen.selection,
      query: { files: files.map((file) => path.basename(file)), ...chosen.query },
    })
  }
  return await fromStore(options, settings)
}

async function fromStore(options: BuildCommandOptions, settings: BuildOptions): Promise<Built> {
  const store = await openStore({ environment: environmentWith({ HOMEGROUND_FOLDER: options.folder }) })
  try {
    const projects = (await store.counts()).map((count) => count.project)
    const query = queryOf(options.project ?? onlyOne(projects), options)
    const traces = new Set<string>()
    const { episodes, ...chosen } = await selected(() => store.episodes(query), options)
    const built = await buildEnvironment(noted(episodes, traces), {
      ...settings,
      ...chosen.selection,
      query: { ...asJson(query), ...chosen.query },
    })
    // So that an erasure can name the folders that still hold a person's traces.
    await store.registerEnvironment({
      project: query.project,
      name: settings.name,
      hash: built.file.hash,
      folder: path.resolve(settings.folder),
      builtAt: new Date().toISOString(),
      traces: [...traces],
    })
    return built
  } finally {
    await store.close()
  }
}

/** The episodes as they come, their traces put into `traces`. */
async function* noted(episodes: AsyncIterable<Episode>, traces: Set<string>): AsyncGenerator<Episode> {
  for await (const episode of episodes) {
    traces.add(episode.trace)
    yield episode
  }
}

function queryOf(project: string, options: BuildCommandOptions): EpisodeQuery {
  const { agent, model, session, user, tool, feedback, source, run, from, to, limit } = options
  const given = { agent, model, session, user, tool, feedback, source, run, from, to, limit }
  return {
    project,
    ...(Object.keys(options.tag).length === 0 ? {} : { tags: options.tag }),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  }
}

function onlyOne(projects: readonly string[]): string {
  const [only, ...others] = projects
  if (only !== undefined && others.length === 0) return only
  throw new HomegroundError(
    'invalid-argument',
    only === undefined ? 'the store is empty' : `the store holds several projects: ${projects.map((name) => inert(name)).join(', ')}`,
    {
      hint:
        only === undefined
          ? 'collect traffic with `homeground up`, import some, or give --episodes FILE'
          : 'choose one with --project NAME',
    },
  )
}

async function* episodesOfFiles(files: readonly string[]): AsyncGenerator<Episode> {
  for (const file of files) for await (const { value, line } of readJsonLines(file)) yield expandEpisodeLine(value, `${file}:${line}`)
}

async function* limited<T>(items: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
  let count = 0
  for await (const item of items) {
    if (count++ >= limit) return
    yield item
  }
}

function harnessOf(options: BuildCommandOptions, folder: string): HarnessSettings | undefined {
  const kind = options.harness ?? (options.module !== undefined ? 'module' : options.command !== undefined ? 'command' : undefined)
  const timeoutMs = options.timeout ?? 120_000
  switch (kind) {
    case undefined:
      return undefined
    case 'turn':
      return { kind }
    case 'loop':
      return { kind, maxSteps: options.maxSteps ?? 50 }
    case 'module': {
      if (options.module === undefined) throw lacks('module', '--module FILE#EXPORT')
      const [file = '', name = 'default'] = options.module.split('#')
      if (!fs.existsSync(file))
        throw new HomegroundError('not-found', `${inert(file)} of --module is not there`, {
          hint: 'give FILE.js#EXPORT of the built product, relative to the current folder',
        })
      return { kind, module: `${path.relative(path.resolve(folder), path.resolve(file))}#${name}`, timeoutMs }
    }
    case 'command':
      if (options.command === undefined) throw lacks('command', '--command LINE')
      return { kind, command: wordsOf(options.command), cwd: path.relative(path.resolve(folder), process.cwd()) || '.', timeoutMs }
  }
}

/** As a shell parts them, where nothing but quotes is special. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  const said = words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'))
  if (said.length > 0 && line.replace(/"[^"]*"|'[^']*'/g, '').search(/["']/) === -1) return said
  throw new HomegroundError('invalid-argument', `--command ${inert(line)} is no program with its arguments`, {
    hint: "for example --command 'node dist/answer.js'; close each quote",
  })
}

function lacks(kind: string, option: string): HomegroundError {
  return new HomegroundError('invalid-argument', `harness ${kind} needs ${option}`, { hint: `add ${option}, or choose another harness` })
}

const toolsFile = z.union([
  z.record(z.string(), toolOverrideSchema),
  z.array(z.looseObject({ name: z.string(), effect: effectSchema.exactOptional() })),
])

/** Settings by name, or a list of definitions of which only the effect is taken. */
function readTools(file: string): Record<string, ToolOverride> {
  const value = parseInput(toolsFile, readJsonFile(file, { broken: 'mend the file' }), {
    place: file,
    what: 'tool settings by name, or a list of definitions',
  })
  if (!Array.isArray(value)) return value
  return Object.fromEntries(value.map(({ name, effect }) => [name, effect === undefined ? {} : { effect }]))
}

function asJson(value: EpisodeQuery): { [key: string]: Json } {
  return JSON.parse(JSON.stringify(value))
}

function summaryOf({ file, folder, warnings, selection }: Built): object {
  return {
    folder,
    name: file.name,
    hash: file.hash,
    unit: file.unit,
    harness: file.harness,
    counts: file.counts,
    ...(selection === undefined ? {} : { selection }),
    warnings,
  }
}

function builtText({ file, folder, survey, warnings, selection }: Built): string {
  const shown = path.relative(process.cwd(), folder) || '.'
  return `${[
    `built ${inert(shown)}: ${survey.tasks} tasks (unit ${file.unit}, harness ${file.harness.kind}) of ${survey.episodes} episodes`,
    `splits: ${survey.tasksOf.train} train, ${survey.tasksOf.validation} validation, ${survey.tasksOf.test} test; tools: ${Object.keys(file.tools).length}; tape entries: ${survey.tapeEntries}`,
    ...(selection === undefined ? [] : selectionLines(selection)).map((line) => inert(line)),
    ...warnings.map((warning) => `warning: ${inert(warning)}`),
    `next: homeground env verify ${shellWord(shown)}; then read ${inert(path.join(shown, file.rubric))} and make it yours`,
  ].join('\n')}\n`
}
