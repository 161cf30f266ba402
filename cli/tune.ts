// `homeground tune setup|sft|dpo|kto|grpo|distill`: makes the trainer's environment, starts a run, follows it, says where the result lies.
import { HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { makeModel, pythonExtras, requirePython, setUpPython, train } from '../tune/train/index.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'
import { registerGrpo } from './tune-grpo.ts'
import { runTraining, withTuneOptions } from './tune-run.ts'
import { settingsOf, type TuneOptions } from './tune-settings.ts'

const recipes = {
  sft: 'supervised fine-tuning: rows of `dataset --format trl-sft`',
  dpo: 'preference pairs: rows of `dataset --format trl-dpo`',
  kto: 'single answers, good or bad: rows of `dataset --format trl-kto`',
  distill: 'a student learns from a local teacher on its own answers',
} as const

export function register(program: Command): void {
  const tune = program.command('tune').description('trains a model on rows that `homeground dataset` wrote')
  tune
    .command('setup')
    .description("makes the trainer's Python environment with uv (about 6 GB), or brings it up to date")
    .addOption(folderOption())
    .addOption(new Option('--with <EXTRA...>', 'also install').choices([...pythonExtras]))
    .action(async (options: { folder?: string; with?: (typeof pythonExtras)[number][] }, command: Command) => {
      const made = await setUpPython({
        ...(options.folder === undefined ? {} : { folder: options.folder }),
        extras: options.with ?? [],
        say: (line) => process.stderr.write(`${line}\n`),
      })
      process.stdout.write(wantsJson(command) ? `${JSON.stringify(made)}\n` : `ready: ${made.python}\n`)
    })
  tune
    .command('model')
    .description('makes a small model to try things with: smollm2 (135 million parameters, real), tiny (two random layers, for tests)')
    .argument('<which>', 'smollm2 or tiny')
    .argument('<folder>', 'where it goes')
    .addOption(folderOption())
    .option('--texts <FILE>', 'of tiny: what its tokenizer learns its words from')
    .action(async (which: string, to: string, options: { folder?: string; texts?: string }, command: Command) => {
      if (which !== 'smollm2' && which !== 'tiny') {
        throw new HomegroundError('invalid-argument', `there is no small model ${inert(which)}`, { hint: 'smollm2 or tiny' })
      }
      await makeModel({
        python: requirePython(options.folder === undefined ? {} : { folder: options.folder }),
        which,
        folder: to,
        ...(options.texts === undefined ? {} : { texts: options.texts }),
      })
      process.stdout.write(wantsJson(command) ? `${JSON.stringify({ folder: to })}\n` : `${which} is in ${to}\n`)
    })
  for (const [recipe, description] of Object.entries(recipes)) {
    withTuneOptions(tune.command(recipe).description(description)).action(async (options: TuneOptions, command: Command) => {
      await runTraining(settingsOf(recipe as keyof typeof recipes, options), options, command, train)
    })
  }
  registerGrpo(tune)
}
