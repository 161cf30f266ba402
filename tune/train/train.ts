// One training run as a command sees it: writes the settings, starts the trainer in its output folder, follows it, and records where the result came from.
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError, makeFolder } from '@homeground/sdk/trace'
import { releaseLock, takeLock } from '../../store/folder-lock.ts'
import { checkSettings } from './check-settings.ts'
import type { TrainerEvent, TrainingEnd } from './events.ts'
import { type ModelFile, writeLineage } from './lineage.ts'
import { startTrainerProcess } from './trainer-process.ts'
import { writeTrainingReport } from './training-report.ts'

/** The settings file of the trainer. What is left out has the trainer's default; docs/tune.md lists all. */
export interface TrainSettings {
  recipe: 'sft' | 'dpo' | 'kto' | 'grpo' | 'distill'
  model: { base: string; [field: string]: unknown }
  data: { train: string[]; [field: string]: unknown }
  /** The output folder. */
  output: string
  [field: string]: unknown
}

export interface TrainOptions {
  python: string
  /** @default 1 */
  processes?: number
  onEvent?: (event: TrainerEvent) => void
  /** Aborted: the trainer saves a checkpoint and stops; the same call goes on from it. */
  signal?: AbortSignal
  /** Written into model.json. */
  homeground: string
  /** Environments that rollouts are played in, for model.json. */
  environments?: readonly { name: string; hash: string }[]
  now?: () => Date
}

/** Resolves with the lineage of the model, which lies in `settings.output`. @throws HomegroundError invalid-settings, invalid-input, run-mismatch, training-failed; invalid-argument: another process trains into that folder */
export async function train(settings: TrainSettings, options: TrainOptions): Promise<ModelFile> {
  const output = path.resolve(settings.output)
  const complete = { ...settings, output }
  // What starts several processes loads torch first: a machine without the GPUs would be told of after half a minute, once for each.
  if ((options.processes ?? 1) > 1) await checkSettings(complete, options)
  makeFolder(output)
  const lock = path.join(output, 'train.lock')
  takeLock(lock, { place: output, busy: 'is training into it', hint: 'wait for it, stop it, or give another --output' })
  try {
    return await trainAlone(complete, options)
  } finally {
    releaseLock(lock)
  }
}

async function trainAlone(settings: TrainSettings, options: TrainOptions): Promise<ModelFile> {
  const { output } = settings
  const file = path.join(output, 'settings.json')
  const before = fs.existsSync(file) ? fs.readFileSync(file) : undefined
  fs.writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`)
  let end: TrainingEnd | undefined
  const trainer = startTrainerProcess({
    python: options.python,
    given: ['run', file],
    log: path.join(output, 'log.txt'),
    ...(options.processes === undefined ? {} : { processes: options.processes }),
    onEvent: (event) => {
      if (event.event === 'end') end = event
      options.onEvent?.(event)
    },
  })
  const abort = (): void => void trainer.stop()
  options.signal?.addEventListener('abort', abort, { once: true })
  try {
    await trainer.ended
  } catch (error) {
    // A run that was refused leaves the settings of the one whose folder it is.
    if (before !== undefined && HomegroundError.is(error) && error.code !== 'training-failed') fs.writeFileSync(file, before)
    throw error
  } finally {
    options.signal?.removeEventListener('abort', abort)
  }
  if (end === undefined) {
    throw new HomegroundError('training-failed', 'the trainer ended well but said nothing of a result', {
      hint: `look at ${path.join(output, 'log.txt')}`,
    })
  }
  const model = await writeLineage({
    output,
    settings,
    end,
    environments: options.environments ?? [],
    homeground: options.homeground,
    now: options.now ?? (() => new Date()),
  })
  writeTrainingReport(output, model)
  return model
}
