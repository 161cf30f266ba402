// `homeground env verify|show|seal`, and where the other `env` commands are registered: play an environment against itself, print its card.
import fs from 'node:fs'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { openEnvironment } from '../replay/environment/open.ts'
import { sealEnvironment } from '../replay/environment/seal.ts'
import { type Verification, verifyEnvironment } from '../replay/environment/verify.ts'
import { registerAudit } from './env-audit.ts'
import { registerBuild } from './env-build.ts'
import { registerDiff } from './env-diff.ts'
import { countOf, shareOf } from './option-values.ts'
import { interruptSignal, progressLine } from './progress.ts'
import { wantsJson } from './store-options.ts'
import { inert, table } from './terminal.ts'

interface VerifyCommandOptions {
  threshold: number
  concurrency: number
  split?: 'train' | 'validation' | 'test'
  task?: string[]
  limit?: number
}

export function register(program: Command): void {
  const env = program.command('env').description('environments: recorded traffic as tasks that can be played again')
  registerBuild(env)
  registerAudit(env)
  registerDiff(env)
  env
    .command('verify')
    .description('play each task against its own recording; exit 1 where too few are reproduced')
    .argument('<folder>', 'the environment folder')
    .option('--threshold <SHARE>', 'the share of tasks that must be reproduced', shareOf, 1)
    .option('--concurrency <N>', 'so many at a time', countOf, 4)
    .addOption(new Option('--split <NAME>', 'tasks of this split only').choices(['train', 'validation', 'test']))
    .option('--task <ID...>', 'these tasks only')
    .option('--limit <N>', 'so many at most', countOf)
    .action(async (folder: string, options: VerifyCommandOptions, command: Command) => {
      const report = await verify(folder, options, wantsJson(command))
      const passed = report.share >= options.threshold
      process.stdout.write(wantsJson(command) ? `${JSON.stringify({ ...report, passed })}\n` : verificationText(report))
      if (!passed) process.exitCode = 1
    })
  env
    .command('show')
    .description("print an environment's card")
    .argument('<folder>', 'the environment folder')
    .option('--tasks', 'list its tasks instead')
    .action(async (folder: string, options: { tasks?: true }, command: Command) => {
      await show(folder, { tasks: options.tasks === true, json: wantsJson(command) })
    })
  env
    .command('seal')
    .description('after an edit that was meant (tasks, tapes, rubric, mocks, how env.json plays them): write the hashes anew')
    .argument('<folder>', 'the environment folder')
    .action(async (folder: string, _options: object, command: Command) => {
      const file = await sealEnvironment(folder)
      process.stdout.write(
        wantsJson(command) ? `${JSON.stringify({ folder, hash: file.hash })}\n` : `sealed ${inert(folder)}: ${file.hash}\n`,
      )
    })
}

async function verify(folder: string, options: VerifyCommandOptions, json: boolean): Promise<Verification> {
  const environment = await openEnvironment(folder)
  const progress = progressLine('verify', { json })
  try {
    return await verifyEnvironment(environment, {
      concurrency: options.concurrency,
      tasks: {
        ...(options.split === undefined ? {} : { split: options.split }),
        ...(options.task === undefined ? {} : { ids: options.task }),
        ...(options.limit === undefined ? {} : { limit: options.limit }),
      },
      signal: interruptSignal(),
      onProgress: ({ done, planned, reproduced }) => progress.show(done, planned, `${reproduced} reproduced`),
    })
  } finally {
    progress.end()
    await environment.close()
  }
}

/** At most this many divergences in full; --json has them all. */
const shown = 10

function verificationText(report: Verification): string {
  const lines = [
    `${inert(report.environment.name)}: ${report.reproduced} of ${report.tasks} tasks reproduced (${(report.share * 100).toFixed(1)} %), ${report.offTape} calls off the tape`,
  ]
  for (const divergence of report.divergences.slice(0, shown)) {
    lines.push(
      '',
      `task ${inert(divergence.task)}, step ${divergence.step} (${inert(divergence.what)}): ${divergence.cause}`,
      `  at        ${inert(divergence.path)}`,
      `  recorded  ${inert(divergence.expected)}`,
      `  replayed  ${inert(divergence.actual)}`,
      `  hint      ${divergence.hint}`,
    )
  }
  if (report.divergences.length > shown) lines.push('', `… and ${report.divergences.length - shown} more (--json lists all)`)
  const causes = Object.entries(report.causes)
  if (causes.length > 0) lines.push('', `causes: ${causes.map(([cause, count]) => `${cause} ${count}`).join(', ')}`)
  return `${lines.join('\n')}\n`
}

async function show(folder: string, options: { tasks: boolean; json: boolean }): Promise<void> {
  const environment = await openEnvironment(folder)
  try {
    if (options.json && !options.tasks) {
      process.stdout.write(
        `${JSON.stringify({ folder: environment.folder, ...environment.file, criteria: environment.rubric.criteria })}\n`,
      )
      return
    }
    if (!options.tasks) {
      process.stdout.write(inert(fs.readFileSync(path.join(environment.folder, 'README.md'), 'utf8'), { multiline: true }))
      return
    }
    if (options.json) for await (const task of environment.tasks()) process.stdout.write(`${JSON.stringify(task)}\n`)
    else {
      const rows: string[][] = []
      for await (const task of environment.tasks()) rows.push([task.id, task.split, task.session, task.source.startedAt ?? ''])
      process.stdout.write(table(['task', 'split', 'session', 'recorded'], rows))
    }
  } finally {
    await environment.close()
  }
}
