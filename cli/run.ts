// `homeground run`: rollouts of one or more arms on an environment's tasks, with progress; interrupted, the same command goes on.
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import type { Environment, HarnessSettings } from '../replay/environment/types.ts'
import { endpointOf } from '../replay/gateway/endpoint.ts'
import { readPrices } from '../replay/rubric/cost.ts'
import { weighedFeedback } from '../replay/rubric/weighed-feedback.ts'
import { type EstimateOptions, estimateRun, type RunEstimate } from '../replay/run/estimate-run.ts'
import { newRunId, type Progress, type RunOptions, runRollouts } from '../replay/run/run-rollouts.ts'
import type { Arm, Run } from '../replay/run/types.ts'
import { handOut, jobPartitions } from '../replay/work/index.ts'
import { type ArmOptions, armOf, armsOf, parametersOf } from './arms.ts'
import { keepHeapLean } from './lean-heap.ts'
import { countOf, dollarsOf, latencyOf, marginOf } from './option-values.ts'
import { interruptSignal, progressLine } from './progress.ts'
import { runEstimateText } from './run-estimate-text.ts'
import { homegroundFolder } from './run-folder-option.ts'
import { summariseRun } from './run-summary.ts'
import { runText } from './run-text.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'
import { version } from './version.ts'
import { openWork } from './work-queue.ts'

interface RunCommandOptions extends ArmOptions {
  folder?: string
  repeats: number
  concurrency?: number
  maxCost?: number
  workers?: boolean
  dryRun?: true
  maxSteps?: number
  maxRolloutCost?: number
  timeout?: number
  cache?: string
  cacheShare?: 'repeat' | 'any'
  seed: number
  latency?: number | 'none'
  margin: number
  split?: 'train' | 'validation' | 'test'
  task?: string[]
  limit?: number
  allowLive: string[]
  id?: string
  out?: string
}

export function register(program: Command): void {
  program
    .command('run')
    .description('play an environment with one or more arms; the same command goes on with an interrupted run')
    .argument('<environment>', 'the environment folder')
    .addOption(folderOption())
    .addOption(new Option('--arm <NAME=MODEL>', 'a model under test; may be given again').argParser(armOf).default([], 'none'))
    .option('--arms <FILE>', 'arms from a JSON file: [{ name, model, url, api, apiKeyEnv, parameters, variants, concurrency, cwd }]')
    .option('--url <URL>', 'base URL of the endpoint, for arms that name none')
    .addOption(
      new Option('--api <DIALECT>', "the endpoint's dialect, for arms that name none").choices([
        'openai.chat',
        'openai.responses',
        'anthropic.messages',
      ]),
    )
    .option('--api-key-env <NAME>', 'environment variable that holds the key, for arms that name none')
    .addOption(new Option('--parameters <JSON>', 'request parameters, for arms that have none').argParser(parametersOf))
    .option('--repeats <N>', 'how often each arm plays each task', countOf, 1)
    .option('--concurrency <N>', 'rollouts at a time (default: 4; with --workers 64, over all of them)', countOf)
    .option('--max-steps <N>', "model calls that a rollout may make (default: the environment's)", countOf)
    .option('--max-rollout-cost <DOLLARS>', "what a rollout may cost (default: the environment's)", dollarsOf)
    .option('--timeout <MS>', "time that a rollout may take (default: the environment's)", countOf)
    .option('--dry-run', 'print what the run is expected to ask and cost, and do nothing')
    .option(
      '--max-cost <DOLLARS>',
      'begin no further rollout once the model calls of the run, its judges and simulators have cost so much',
      dollarsOf,
    )
    .option(
      '--cache <FOLDER>',
      'take answers of models from there, where the same was asked by the same repeat and seed, and keep them there',
    )
    .addOption(new Option('--cache-share <WHICH>', 'any: one answer for all repeats').choices(['repeat', 'any']).default('repeat'))
    .option('--workers', 'hand the rollouts to `homeground worker`s over Kafka (HOMEGROUND_KAFKA_*)')
    .option('--seed <N>', 'of ids and random numbers', seedOf, 0)
    .option('--latency <WHICH>', 'how long recorded tools take: none, recorded, or a factor of that, like 0.5 (default: none)', latencyOf)
    .option('--margin <SHARE>', 'differences of the score under it count as equal', marginOf, 0.05)
    .addOption(new Option('--split <NAME>', 'tasks of this split only').choices(['train', 'validation', 'test']))
    .option('--task <ID...>', 'these tasks only')
    .option('--limit <N>', 'so many tasks at most', countOf)
    .option('--allow-live <TOOL...>', 'tools with side effects that may run, where the environment says live too', [])
    .option('--id <ID>', "the run's id: its folder under .homeground/runs (default: by the time)", idOf)
    .option('--out <FOLDER>', 'another place for the run folder')
    .action(async (folder: string, options: RunCommandOptions, command: Command) => {
      keepHeapLean()
      if (options.dryRun === true) {
        const estimate = await estimated(folder, options)
        process.stdout.write(wantsJson(command) ? `${JSON.stringify(estimate)}\n` : runEstimateText(estimate))
        return
      }
      const run = await start(folder, options, wantsJson(command))
      const summary = await summariseRun(run)
      const spent = run.size.done < run.size.planned && options.maxCost !== undefined
      process.stdout.write(
        wantsJson(command)
          ? `${JSON.stringify({ folder: run.folder, id: run.file.id, ...run.size, ...(spent ? { stopped: 'max-cost' } : {}), arms: summary })}\n`
          : runText(run, summary),
      )
      if (spent) {
        process.stderr.write(
          `stopped: --max-cost $${options.maxCost} is spent after ${run.size.done} of ${run.size.planned} rollouts; the same command with --id ${run.file.id} and a higher --max-cost goes on\n`,
        )
        process.exitCode = 1
      }
      // An arm of which nothing was played says nothing of its model: that is a failure, not a result.
      if (summary.some((arm) => arm.rollouts > 0 && arm.errors === arm.rollouts)) process.exitCode = 3
    })
}

async function estimated(folder: string, options: RunCommandOptions): Promise<RunEstimate> {
  const environment = await openEnvironment(folder)
  try {
    return await estimateRun(environment, estimateOptions(environment, options))
  } finally {
    await environment.close()
  }
}

function estimateOptions(environment: Environment, options: RunCommandOptions): EstimateOptions {
  const harness = harnessOf(environment, options)
  return { arms: armsOf(options), tasks: chosenTasks(options), repeats: options.repeats, harness, prices: readPrices() }
}

async function start(folder: string, options: RunCommandOptions, json: boolean): Promise<Run> {
  if (options.workers === true && options.cache !== undefined) {
    throw new HomegroundError('invalid-argument', '--cache is a folder of one machine, and --workers plays on others', {
      hint: 'leave it out here, and give it to the workers: homeground worker --cache FOLDER',
    })
  }
  const arms = armsOf(options)
  // A key that is not set is said before anything stands on the disk; workers have their own.
  if (options.workers !== true) for (const arm of arms) if (arm.model !== 'recorded') endpointOf(arm, process.env)
  const environment = await openEnvironment(folder)
  const id = options.id ?? newRunId()
  const out = options.out ?? path.join(homegroundFolder(options.folder), 'runs', id)
  const progress = progressLine('rollouts', { json })
  const work = options.workers === true ? await openWork() : undefined
  const onIdle = () => process.stderr.write(`no worker is there yet: homeground worker --env ${inert(folder)}\n`)
  try {
    for (const name of weighedFeedback(environment.rubric))
      process.stderr.write(
        `warning: criterion ${inert(name)} of the rubric asks for feedback, which a rollout gets only from the product itself: without it no rollout has a score; give it weight 0, then homeground env seal ${inert(folder)}\n`,
      )
    if (!json && arms.some(({ model }) => model !== 'recorded'))
      process.stderr.write(runEstimateText(await estimateRun(environment, estimateOptions(environment, options))))
    return await runRollouts(environment, {
      arms,
      folder: out,
      id,
      homeground: version,
      repeats: options.repeats,
      concurrency: options.concurrency ?? (work === undefined ? 4 : jobPartitions),
      seed: options.seed,
      ...(typeof options.latency === 'number' ? { latency: options.latency } : {}),
      margin: options.margin,
      allowLive: options.allowLive,
      tasks: chosenTasks(options),
      harness: harnessOf(environment, options),
      signal: interruptSignal(),
      ...(options.maxCost === undefined ? {} : { maxCostUsd: options.maxCost }),
      ...(options.cache === undefined ? {} : { cache: { folder: path.resolve(options.cache), share: options.cacheShare ?? 'repeat' } }),
      ...(work === undefined ? {} : { players: handOut({ ...work, onIdle }) }),
      onProgress: ({ done, planned, ran, errors }: Progress) => {
        if (ran === 0 && !json) process.stderr.write(`run: ${out}\n${arms.map(armText).join('')}`)
        progress.show(done, planned, errors === 0 ? '' : `${errors} failed`)
      },
    })
  } finally {
    progress.end()
    await work?.channel.close()
    await environment.close()
  }
}

/** The environment's, with what a rollout may take. */
function harnessOf({ file: { harness } }: Environment, { maxSteps, maxRolloutCost, timeout }: RunCommandOptions): HarnessSettings {
  return {
    ...harness,
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxRolloutCost === undefined ? {} : { maxCostUsd: maxRolloutCost }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  }
}

/** Which model is asked where: a forgotten --url would spend money elsewhere. */
function armText({ apiKeyEnv: _key, ...arm }: Arm): string {
  return `  ${inert(arm.name)}: ${inert(arm.model)}${arm.model === 'recorded' ? '' : ` at ${inert(endpointOf(arm, process.env).url)}`}\n`
}

function chosenTasks({ split, task, limit }: RunCommandOptions): NonNullable<RunOptions['tasks']> {
  return {
    ...(split === undefined ? {} : { split }),
    ...(task === undefined ? {} : { ids: task }),
    ...(limit === undefined ? {} : { limit }),
  }
}

function seedOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new HomegroundError('invalid-argument', `--seed ${inert(text)} is no whole number`, { hint: 'for example --seed 7' })
}

function idOf(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text
  throw new HomegroundError('invalid-argument', `--id ${inert(text)} cannot be a folder's name`, {
    hint: 'use letters, digits, dot, dash and underscore',
  })
}
