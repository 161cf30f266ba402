// `homeground loop loop.json`: the whole loop as one command; resumable, with a dry run and, by `--every`, a schedule. Exit 1 where nothing was promoted.
import fs from 'node:fs'
import path from 'node:path'
import { parseInput, readJsonFile } from '@homeground/sdk/trace'
import type { Command } from 'commander'
import { type LoopFile, type LoopResult, LoopState, loopFileSchema, planIteration, runLoop, runOnSchedule } from '../tune/loop/index.ts'
import { checkLoop } from './check-loop.ts'
import { runLoopStep } from './loop-step.ts'
import { durationOf } from './option-values.ts'
import { interruptSignal } from './progress.ts'
import { homegroundFolder } from './run-folder-option.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

interface LoopCommandOptions {
  folder?: string
  dryRun?: true
  every?: number
}

export function register(program: Command): void {
  program
    .command('loop')
    .description('collect, build, verify, audit, rollouts, dataset, tune, gate: one command, resumable, until nothing improves')
    .argument('<file>', 'loop.json')
    .addOption(folderOption())
    .option('--dry-run', 'print the plan with its costs, and do nothing')
    .option('--every <TIME>', 'begin again after so long, e.g. 30m, 24h, 7d', durationOf)
    .action(async (file: string, options: LoopCommandOptions, command: Command) => {
      const loop = readLoop(file)
      const home = homegroundFolder(options.folder)
      await checkLoop(loop, { file, folder: home, dryRun: options.dryRun === true })
      const folder = path.join(home, 'loops', loop.name)
      if (options.dryRun === true) {
        process.stdout.write(planText(loop, folder, wantsJson(command)))
        return
      }
      const signal = interruptSignal()
      const print = (result: LoopResult): void => {
        process.stdout.write(wantsJson(command) ? `${JSON.stringify(result)}\n` : resultText(result))
      }
      const once = (): Promise<LoopResult> =>
        runLoop(loop, {
          folder,
          signal,
          homeground: (given) => runLoopStep(given, { folder: options.folder, signal }),
          onStep: (step, iteration, given) => process.stderr.write(`[${iteration}] ${step}: homeground ${inert(given.join(' '))}\n`),
        })
      const result =
        options.every === undefined ? await once() : await runOnSchedule(once, { everyMs: options.every, signal, onResult: print })
      if (options.every === undefined) print(result)
      if (!result.iterations.some((each) => each.outcome === 'promoted')) process.exitCode = 1
    })
}

/** @throws HomegroundError not-found, invalid-settings */
function readLoop(file: string): LoopFile {
  const hint = 'docs/tune.md shows a loop.json'
  const value = readJsonFile(file, { missing: `there is no ${inert(file)}`, missingHint: hint, broken: hint, code: 'invalid-settings' })
  return parseInput(loopFileSchema, value, { place: file, what: 'a loop', code: 'invalid-settings', hint })
}

function planText(loop: LoopFile, folder: string, json: boolean): string {
  const past = fs.existsSync(folder) ? new LoopState(folder).iterations() : []
  const iteration = past.length + 1
  const live = past.findLast((each) => each.outcome === 'promoted')?.candidate ?? loop.tune.base
  const took = past.at(-1)?.seconds ?? {}
  const played = past.findLast((each) => each.rollouts !== undefined)?.rollouts
  const steps = planIteration(loop, {
    folder: path.join(folder, String(iteration).padStart(3, '0')),
    live,
    ...(played === undefined ? {} : { played }),
  })
  if (json) return `${JSON.stringify({ iteration, live, steps, tookLastTime: took })}\n`
  const rows = steps.map(({ name, command, cost }) => [
    name,
    took[name] === undefined ? '' : `${Math.round(took[name])} s`,
    cost,
    `homeground ${command.join(' ')}`,
  ])
  return `iteration ${iteration} of ${loop.name}, against ${inert(live)}; nothing is run\n${table(['step', 'last time', 'costs', 'command'], rows)}`
}

function resultText({ end, iterations, live }: LoopResult): string {
  const why = {
    'no-new-episodes': 'nothing new was collected',
    'no-improvement': 'the last iterations brought no better model',
    iterations: 'all iterations that loop.json allows are done',
  }[end]
  const score = (value: number | null | undefined): string => (typeof value === 'number' ? value.toFixed(3) : '')
  const rows = iterations.map((each) => [
    String(each.iteration),
    String(each.episodes),
    each.outcome === 'promoted' ? 'promoted' : `no: ${each.outcome}`,
    score(each.scores?.baseline),
    score(each.scores?.candidate),
    each.candidate,
  ])
  return `${table(['iteration', 'episodes', 'outcome', 'live', 'new', 'model'], rows)}stopped: ${why}; live: ${inert(live)}\n`
}
