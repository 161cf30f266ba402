// `homeground tune setup|sft|dpo|kto|grpo|distill`: makes the trainer's environment, starts a run, follows it, says where the result lies.
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError } from '@homeground/sdk/trace'
import { type Command, Option } from 'commander'
import { makeModel, pythonExtras, requirePython, setUpPython, type TrainSettings, train } from '../tune/train/index.ts'
import { countOf } from './option-values.ts'
import { interruptSignal } from './progress.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert } from './terminal.ts'
import { trainingProgress } from './training-progress.ts'
import { settingsOf, type TuneOptions } from './tune-settings.ts'
import { version } from './version.ts'

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
    withOptions(tune.command(recipe).description(description)).action(async (options: TuneOptions, command: Command) => {
      await runTraining(settingsOf(recipe as keyof typeof recipes, options), options, command)
    })
  }
}

function withOptions(command: Command): Command {
  return command
    .addOption(folderOption())
    .option('--settings <FILE>', 'settings file (JSON); options below win over it')
    .option('--model <FOLDER>', 'the base model: a folder in Hugging Face layout, or a hub name')
    .option('--adapter <FOLDER>', 'an adapter to go on from')
    .option('--data <FILE...>', 'rows to train on')
    .option('--validation <FILE...>', 'rows to measure the loss on')
    .option('--teacher <FOLDER>', 'the teacher of `distill`')
    .option('--output <FOLDER>', 'where the result goes (default: models/NAME in the Homeground folder)')
    .option('--set <FIELD=VALUE...>', 'any field of the settings, e.g. optimizer.learningRate=1e-4')
    .option('--gpus <N>', 'processes to train with, one a GPU (accelerate launch)', countOf)
}

async function runTraining(settings: TrainSettings, options: TuneOptions, command: Command): Promise<void> {
  const python = requirePython(options.folder === undefined ? {} : { folder: options.folder })
  const progress = trainingProgress({ json: wantsJson(command) })
  const signal = interruptSignal()
  try {
    const model = await train(settings, {
      python,
      homeground: version,
      signal,
      onEvent: (event) => progress.show(event),
      ...(options.gpus === undefined ? {} : { processes: options.gpus }),
    })
    const folder = path.relative(process.cwd(), path.resolve(settings.output)) || '.'
    if (wantsJson(command)) process.stdout.write(`${JSON.stringify(model)}\n`)
    else {
      const { loss, steps } = model.metrics
      process.stdout.write(
        `${folder}: ${model.kind} after ${steps} steps, loss ${loss.first?.toFixed(3) ?? '?'} to ${loss.last?.toFixed(3) ?? '?'}\n` +
          `  try it:  homeground serve ${folder}\n  gate it: homeground gate ENV --baseline ${settings.model.base} --candidate ${folder}\n`,
      )
    }
  } finally {
    progress.end()
    if (!fs.existsSync(path.join(settings.output, 'started.json'))) removeIfOnlyOurs(settings.output)
  }
}

/** A run that was refused leaves no folder behind. */
function removeIfOnlyOurs(folder: string): void {
  const ours = new Set(['settings.json', 'log.txt'])
  if (!fs.existsSync(folder) || fs.readdirSync(folder).some((name) => !ours.has(name))) return
  fs.rmSync(folder, { recursive: true })
}
