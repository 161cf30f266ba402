// `homeground rescore RUN`: scores a run's episodes again by the environment's rubric of today, into a run of its own.
import path from 'node:path'
import type { Command } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import { readPrices } from '../replay/rubric/index.ts'
import { openRun } from '../replay/run/open-run.ts'
import { rescoreRun } from '../replay/run/rescore-run.ts'
import { countOf } from './option-values.ts'
import { progressLine } from './progress.ts'
import { runFolder } from './run-folder-option.ts'
import { summariseRun } from './run-summary.ts'
import { unscoredLines } from './run-text.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

interface RescoreCommandOptions {
  folder?: string
  env?: string
  out?: string
  missing?: true
  concurrency: number
}

export function register(program: Command): void {
  program
    .command('rescore')
    .description("score a run's episodes again, without playing them again")
    .argument('<run>', 'a run folder, or the id of a run')
    .addOption(folderOption())
    .option('--env <FOLDER>', 'the environment with the rubric (default: the one that the run was made from)')
    .option('--out <FOLDER>', 'folder of the new run (default: beside the old one, with the hash of the environment)')
    .option('--missing', 'score only rollouts that have no score, where a judge was away; the others keep theirs')
    .option('--concurrency <N>', 'rollouts at a time', countOf, 4)
    .action(async (given: string, options: RescoreCommandOptions, command: Command) => {
      const json = wantsJson(command)
      const run = await openRun(runFolder(given, options.folder))
      const environment = await openEnvironment(options.env ?? run.file.environment.folder)
      try {
        const id = `${run.file.id}-${environment.file.hash.slice(0, 8)}`
        const progress = progressLine('scored', { json })
        const again = await rescoreRun(run, environment, {
          folder: options.out ?? path.join(path.dirname(run.folder), id),
          id,
          prices: readPrices(),
          missing: options.missing ?? false,
          concurrency: options.concurrency,
          onProgress: (done, planned) => progress.show(done, planned),
        })
        progress.end()
        const arms = await summariseRun(again)
        if (json) process.stdout.write(`${JSON.stringify({ folder: again.folder, id, ...again.size, arms })}\n`)
        else {
          const rows = arms.map((arm) => [
            inert(arm.name),
            arm.score === null ? '–' : arm.score.toFixed(3),
            String(arm.withoutScore),
            String(arm.rollouts),
          ])
          process.stdout.write(table(['arm', 'score', 'without a score', 'rollouts'], rows))
          const unscored = unscoredLines(arms)
          process.stdout.write(`\n${unscored.join('')}next: homeground compare ${inert(again.folder)}\n`)
          if (unscored.length > 0)
            process.stdout.write(`where a judge was away: homeground rescore ${inert(again.folder)} --missing asks about those alone\n`)
        }
      } finally {
        await environment.close()
      }
    })
}
