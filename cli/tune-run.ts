// What every recipe of `homeground tune` shares: its options, and a run followed to its end.
import fs from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { type ModelFile, requirePython, type TrainOptions, type TrainSettings } from '../tune/train/index.ts'
import { countOf } from './option-values.ts'
import { interruptSignal } from './progress.ts'
import { folderOption, wantsJson } from './store-options.ts'
import { inert, shellWord } from './terminal.ts'
import { trainingProgress } from './training-progress.ts'
import type { TuneOptions } from './tune-settings.ts'
import { version } from './version.ts'

export function withTuneOptions(command: Command): Command {
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

/** @param train what trains: `train` itself, or with rollouts beside it */
export async function runTraining(
  settings: TrainSettings,
  options: TuneOptions,
  command: Command,
  train: (settings: TrainSettings, options: TrainOptions) => Promise<ModelFile>,
): Promise<void> {
  const python = requirePython(options.folder === undefined ? {} : { folder: options.folder })
  const progress = trainingProgress({ json: wantsJson(command) })
  const signal = interruptSignal()
  const isFresh = !fs.existsSync(settings.output)
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
      const { loss, reward, steps } = model.metrics
      const [name, { first, last }] = reward === undefined ? ['loss', loss] : ['reward', reward]
      process.stdout.write(
        `${inert(folder)}: ${model.kind} after ${steps} steps, ${name} ${first?.toFixed(3) ?? '?'} to ${last?.toFixed(3) ?? '?'}\n` +
          `  try it:  homeground serve ${shellWord(folder)}\n  gate it: homeground gate ENV --baseline ${shellWord(settings.model.base)} --candidate ${shellWord(folder)}\n`,
      )
    }
  } finally {
    progress.end()
    if (isFresh && !fs.existsSync(path.join(settings.output, 'started.json'))) removeIfOnlyOurs(settings.output)
  }
}

/** A run that was refused leaves no folder of its own behind. */
function removeIfOnlyOurs(folder: string): void {
  const ours = new Set(['settings.json', 'log.txt', 'tasks.jsonl'])
  if (!fs.existsSync(folder) || fs.readdirSync(folder).some((name) => !ours.has(name))) return
  fs.rmSync(folder, { recursive: true })
}
