// `homeground dataset ENV|RUN…`: training rows out of environments, runs or recorded traffic, and what became of every episode.
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { openStore } from '../store/index.ts'
import {
  type DatasetOptions,
  type DatasetSource,
  environmentSource,
  type FolderSource,
  joinSources,
  runSource,
  traceSource,
  type WrittenDataset,
  writeDataset,
} from '../tune/dataset/index.ts'
import { formatNamed, formats } from '../tune/formats/index.ts'
import { writeVerifiersPackage } from '../tune/verifiers/index.ts'
import { countOf, shareOf } from './option-values.ts'
import { environmentWith, folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface CommandOptions {
  format: string
  out: string
  split?: 'train' | 'validation'
  minScore?: number
  best?: number
  margin?: number
  pairs?: number
  nearDuplicates?: number
  reasoning?: 'drop' | 'keep' | string[]
  tools?: 'list' | 'json'
  invalidArguments?: 'drop' | 'keep'
  offTape?: 'drop' | 'keep'
  arm?: string[]
  environment?: string
  project?: string
  agent?: string
  score?: string
  folder?: string
}

export function register(program: Command): void {
  program
    .command('dataset')
    .description('training rows; prints what was kept, dropped and why')
    .argument('[folders...]', 'environments (their recordings) and runs (their rollouts)')
    .addOption(
      new Option(
        '--format <FORMAT>',
        [...Object.entries(formats).map(([name, { summary }]) => `${name}: ${summary}`), `verifiers: ${verifiersSummary}`].join('; '),
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--out <FILE>',
        'the file to write, .jsonl or .jsonl.gz; where rows came from and the report are written beside it; of verifiers: a folder',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--split <SPLIT>', 'rows of this split; never of test').choices(['train', 'validation']).default('train'))
    .option('--min-score <N>', 'only episodes that scored so much; of trl-kto: from where an answer is good', shareOf)
    .option('--best <N>', 'only the so many best episodes of each task', countOf)
    .option('--margin <N>', 'least difference of score between the sides of a pair', shareOf)
    .option('--pairs <N>', 'most pairs of one task', countOf, 1)
    .option('--near-duplicates <SHARE>', 'drop rows that share so much of their word runs with an earlier one, e.g. 0.9', shareOf)
    .option(
      '--reasoning <HOW>',
      'drop, keep (into reasoning_content), or the providers whose is kept, e.g. deepseek,vllm',
      reasoningOption,
      'drop',
    )
    .addOption(new Option('--tools <HOW>', 'tools and arguments as values, or as JSON text').choices(['list', 'json']).default('list'))
    .addOption(
      new Option('--invalid-arguments <HOW>', 'episodes with a call whose arguments are not JSON')
        .choices(['drop', 'keep'])
        .default('drop'),
    )
    .addOption(
      new Option('--off-tape <HOW>', 'rollouts in which the recording had no answer for a tool call')
        .choices(['drop', 'keep'])
        .default('drop'),
    )
    .option('--arm <NAME...>', 'of runs: rollouts of these arms only')
    .option('--environment <FOLDER>', 'of runs: where their environment is now, if it was moved')
    .option('--project <NAME>', 'recorded episodes of this project, straight from the store')
    .option('--agent <NAME>', 'of --project: of this agent')
    .option('--score <FEEDBACK>', 'of --project: the feedback that is the score')
    .addOption(folderOption())
    .action(async (folders: string[], options: CommandOptions, command: Command) => {
      if (options.format === 'verifiers') return await writePackage(folders, options, wantsJson(command))
      const kind = formats[formatNamed(options.format, ['verifiers'])].kind
      const sources = await openSources(folders, options, kind)
      try {
        const from = [
          ...folders.map((folder) => path.resolve(folder)),
          ...(options.project === undefined ? [] : [`project ${options.project}`]),
        ]
        const written = await writeDataset(joinSources(sources.map(({ source }) => source)), options.out, datasetOptions(options), { from })
        print(written, wantsJson(command))
      } finally {
        for (const { close } of sources) await close()
      }
    })
}

const verifiersSummary = 'a package for verifiers (and so prime-rl) that plays the environment, with traces and an upload file beside it'

/** A package plays one environment: what is given is that environment, or runs on it. */
async function writePackage(folders: readonly string[], options: CommandOptions, json: boolean): Promise<void> {
  if (folders.length === 0 || options.project !== undefined) {
    throw new HomegroundError('invalid-argument', '--format verifiers needs an environment, or a run on one', {
      hint: 'give its folder, and leave --project out',
    })
  }
  const sources: FolderSource[] = []
  try {
    for (const folder of folders) sources.push(await openFolder(folder, options))
    const [first] = sources
    const other = sources.find(({ environment }) => environment.file.hash !== first?.environment.file.hash)
    if (first === undefined || other !== undefined) {
      throw new HomegroundError('invalid-argument', 'the folders are of more than one environment', { hint: 'write a package for each' })
    }
    const written = await writeVerifiersPackage(options.out, {
      source: joinSources(sources),
      environment: first.environment,
      dataset: datasetOptions(options),
      command: [process.execPath, path.join(import.meta.dirname, 'main.js')],
      from: folders.map((folder) => path.resolve(folder)),
    })
    if (json) process.stdout.write(`${JSON.stringify(written)}\n`)
    else {
      process.stdout.write(
        `${inert(written.taskset)} in ${inert(written.folder)}: ${written.tasks} tasks, ${written.episodes} episodes\n` +
          `  install it: uv pip install -e ${inert(written.folder)}\n  then: vf-eval ${inert(written.taskset)} --env.agent.runtime.type subprocess --no-push …; see its README.md\n`,
      )
    }
    if (written.tasks === 0) process.exitCode = 1
  } finally {
    for (const { close } of sources) await close()
  }
}

interface Opened {
  source: DatasetSource
  close(): Promise<void>
}

async function openSources(folders: readonly string[], options: CommandOptions, kind: string): Promise<Opened[]> {
  if (folders.length === 0 && options.project === undefined) {
    throw new HomegroundError('invalid-argument', 'nothing to make rows of', {
      hint: 'give an environment or run folder, or --project NAME',
    })
  }
  if (options.project !== undefined && kind === 'groups') {
    throw new HomegroundError('invalid-argument', `--format ${options.format} needs tasks, and recorded traffic has none`, {
      hint: 'build an environment first: homeground env build',
    })
  }
  const opened: Opened[] = []
  for (const folder of folders) {
    const source = await openFolder(folder, options)
    opened.push({ source, close: () => source.close() })
  }
  if (options.project !== undefined) opened.push(await openProject(options.project, options))
  return opened
}

async function openFolder(folder: string, options: CommandOptions): Promise<FolderSource> {
  if (fs.existsSync(path.join(folder, 'env.json'))) return await environmentSource(folder)
  if (fs.existsSync(path.join(folder, 'run.json'))) {
    return await runSource(folder, {
      ...(options.environment === undefined ? {} : { environment: options.environment }),
      ...(options.arm === undefined ? {} : { arms: options.arm }),
    })
  }
  throw new HomegroundError('not-found', `${inert(folder)} is no environment and no run (it has neither env.json nor run.json)`, {
    hint: 'give a folder that `env build` or `run` has made',
  })
}

async function openProject(project: string, options: CommandOptions): Promise<Opened> {
  const store = await openStore({ environment: environmentWith({ HOMEGROUND_FOLDER: options.folder }) })
  const query = { project, ...(options.agent === undefined ? {} : { agent: options.agent }) }
  return { source: traceSource(store, query, options.score), close: () => store.close() }
}

function datasetOptions(options: CommandOptions): DatasetOptions {
  const { format, split, minScore, best, margin, pairs, reasoning, tools, invalidArguments, offTape, nearDuplicates } = options
  const given = { split, minScore, best, margin, pairs, reasoning, tools, invalidArguments, offTape, duplicates: nearDuplicates }
  return { format, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
}

/** Without a row the answer is no: exit 1. */
function print(written: WrittenDataset, json: boolean): void {
  if (written.rows === 0) process.exitCode = 1
  if (json) {
    process.stdout.write(`${JSON.stringify(written)}\n`)
    return
  }
  const { tokens, dropped, counted } = written
  const lines = [
    written.rows === 0 ? 'no row is left, nothing was written' : `${written.rows} rows in ${inert(written.files.rows)}`,
    `  from ${written.considered} episodes${written.heldOut > 0 ? `; ${written.heldOut} of other splits were left alone` : ''}`,
    ...Object.entries(dropped).map(
      ([reason, ids]) =>
        `  dropped, ${reason}: ${ids.length} (${ids
          .slice(0, 3)
          .map((id) => inert(id))
          .join(', ')}${ids.length > 3 ? ', …' : ''})`,
    ),
    ...(counted.invalidArguments > 0 ? [`  kept with arguments that are not JSON: ${counted.invalidArguments} turns`] : []),
  ]
  if (written.rows > 0) {
    const exactness =
      tokens.exactShare === 1 ? 'as the provider counted them' : `${Math.round(tokens.exactShare * 100)} % exact, others estimated`
    lines.push(
      `  tokens a row: p50 ${tokens.p50}, p95 ${tokens.p95}, max ${tokens.max} (${exactness}); ${Math.round(tokens.trainedShare * 100)} % of them trained`,
    )
    lines.push(`  where each row came from: ${inert(written.files.sources)}; report: ${inert(written.files.report)}`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

function reasoningOption(text: string): 'drop' | 'keep' | string[] {
  return text === 'drop' || text === 'keep' ? text : text.split(',').map((name) => name.trim())
}
