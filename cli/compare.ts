// `homeground compare`: which arm is better, of a run or of recorded episodes; a table here, report.json and report.html beside the run.
import path from 'node:path'
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import {
  type Comparison,
  compare as compareArms,
  compareRun,
  type EpisodeArm,
  episodesSource,
  fieldValues,
  type ReportFiles,
  scoreByFeedback,
  writeReport,
  writeReportFiles,
} from '../replay/compare/index.ts'
import { openEnvironment } from '../replay/environment/open.ts'
import { episodeCostUsd, readPrices } from '../replay/rubric/index.ts'
import { openRun } from '../replay/run/open-run.ts'
import type { Run } from '../replay/run/types.ts'
import { comparisonText } from './compare-text.ts'
import { type OpenEpisodes, openEpisodes } from './episode-query.ts'
import { marginOf } from './option-values.ts'
import { homegroundFolder, runFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'

interface CompareOptions {
  folder?: string
  a?: string
  b?: string
  episodes?: string
  live: boolean
  by: string
  score: string
  margin?: number
  out?: string
  report: boolean
}

export function register(program: Command): void {
  program
    .command('compare')
    .description('which arm is better: paired by task, clustered by session, with a verdict and a report')
    .argument('[run]', 'a run folder, or the id of a run')
    .addOption(folderOption())
    .option('--a <ARM>', 'the baseline (default: the first arm); with --episodes the values of its episodes, joined by +')
    .option('--b <ARM>', 'the candidate (default: every other arm)')
    .option('--episodes <QUERY>', 'recorded episodes instead of a run: project=NAME,source=import,… or a file of episodes')
    .option(
      '--live',
      "with --episodes: a canary's traffic, where each session saw one arm: two samples, unpaired, clustered by session",
      false,
    )
    .option(
      '--by <FIELD>',
      'with --episodes: what tells the arms apart: tags.NAME, tags.variant.NAME, source.repeat, agent.version, model',
      'source.repeat',
    )
    .option('--score <FEEDBACK>', 'with --episodes: the feedback that is the score', 'reward')
    .option('--margin <SHARE>', "with --episodes: differences under it count as equal (a run's margin is fixed before it)", marginOf)
    .option('--out <FOLDER>', 'where the report goes (default: the run folder; with --episodes .homeground/compare)')
    .option('--no-report', 'write no report')
    .action(async (run: string | undefined, options: CompareOptions, command: Command) => {
      if ((run === undefined) === (options.episodes === undefined))
        throw new HomegroundError('invalid-argument', 'compare needs either a run or --episodes', {
          hint: 'homeground compare .homeground/runs/ID, or homeground compare --episodes project=NAME --by source.repeat --a 0+1 --b 2+3',
        })
      if (options.live && options.episodes === undefined)
        throw new HomegroundError('invalid-argument', '--live compares recorded episodes, not a run', {
          hint: 'homeground compare --live --episodes project=NAME,from=DAY --by tags.variant.NAME --a VALUE --b VALUE --score FEEDBACK',
        })
      const { comparison, files } =
        run === undefined ? await ofEpisodes(options.episodes ?? '', options) : await ofRun(runFolder(run, options.folder), options)
      process.stdout.write(wantsJson(command) ? `${JSON.stringify({ ...comparison, files })}\n` : text(comparison, files))
    })
}

interface Done {
  comparison: Comparison
  files?: ReportFiles
}

async function ofRun(folder: string, options: CompareOptions): Promise<Done> {
  if (options.margin !== undefined)
    throw new HomegroundError('invalid-argument', "a run's margin was fixed before it ran", { hint: 'homeground run --margin sets it' })
  const run = await openRun(folder)
  const tags = await tagsOf(run)
  const comparison = await compareRun(run, { baseline: options.a, candidate: options.b, ...(tags && { tags }) })
  if (!options.report) return { comparison }
  return { comparison, files: await writeReport(options.out === undefined ? run : { ...run, folder: options.out }, comparison) }
}

/** The environment's tags, where its folder is still there and has not changed since. */
async function tagsOf(run: Run): Promise<((task: string) => Record<string, string>) | undefined> {
  try {
    const environment = await openEnvironment(run.file.environment.folder)
    try {
      if (environment.file.hash !== run.file.environment.hash) return undefined
      const tags = new Map<string, Record<string, string>>()
      for await (const task of environment.tasks()) if (Object.keys(task.tags).length > 0) tags.set(task.id, task.tags)
      return (task) => tags.get(task) ?? {}
    } finally {
      await environment.close()
    }
  } catch {
    return undefined
  }
}

async function ofEpisodes(text: string, options: CompareOptions): Promise<Done> {
  const episodes = await openEpisodes(text, options.folder)
  try {
    const prices = readPrices()
    const source = episodesSource({
      title: path.basename(text),
      by: options.by,
      design: options.live ? 'two-sample' : 'paired',
      arms: await armsOf(episodes, options),
      episodes: () => episodes.read(),
      score: scoreByFeedback(options.score),
      costUsd: (episode: Episode) => episodeCostUsd(episode, prices),
      facts: [{ name: 'score', value: `feedback ${options.score}` }],
    })
    const comparison = await compareArms(source, { margin: options.margin })
    if (!options.report) return { comparison }
    const folder = options.out ?? path.join(homegroundFolder(options.folder), 'compare')
    return { comparison, files: await writeReportFiles(folder, comparison, source, episodes.read()) }
  } finally {
    await episodes.close()
  }
}

/** `0+1` is the arm of the episodes with either value. Without --a and --b, one arm a value. */
async function armsOf(episodes: OpenEpisodes, { a, b, by }: CompareOptions): Promise<EpisodeArm[]> {
  const named = [a, b].filter((name) => name !== undefined)
  if (named.length === 2) return named.map((name) => ({ name, values: name.split('+') }))
  const values = [...(await fieldValues(episodes.read(), by)).keys()].toSorted()
  const others = values.filter((value) => !named.some((name) => name.split('+').includes(value)))
  if (a !== undefined) return [{ name: a, values: a.split('+') }, ...others.map((value) => ({ name: value, values: [value] }))]
  return [...others.map((value) => ({ name: value, values: [value] })), ...named.map((name) => ({ name, values: name.split('+') }))]
}

function text(comparison: Comparison, files: ReportFiles | undefined): string {
  return comparisonText(comparison) + (files ? `\nreport: ${inert(files.html)}\n` : '')
}
