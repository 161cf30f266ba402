// GRPO from one call: opens the environment, starts the rollout service, and follows the trainer, which asks it for rollouts. All of it ends together.
import fs from 'node:fs'
import path from 'node:path'
import { HomegroundError, makeFolder } from '@homeground/sdk/trace'
import { openEnvironment } from '../../replay/environment/open.ts'
import type { Environment } from '../../replay/environment/types.ts'
import { type ModelFile, type TrainOptions, type TrainSettings, train } from '../train/index.ts'
import type { PlayerOptions } from './play-rollouts.ts'
import { serveRollouts } from './serve-rollouts.ts'

export interface TrainOnRolloutsOptions extends TrainOptions, Pick<PlayerOptions, 'concurrency' | 'allowLive' | 'threads'> {
  /** The environment's folder. */
  environment: string
}

/**
 * Plays the tasks of `settings.data.train`, or all of the split train where it names none.
 * @throws HomegroundError as `train` and `openEnvironment` do; invalid-input: the environment has no task to train on
 */
export async function trainOnRollouts(settings: TrainSettings, options: TrainOnRolloutsOptions): Promise<ModelFile> {
  const { environment: folder, concurrency, allowLive, threads, ...training } = options
  const environment = await openEnvironment(folder)
  try {
    const tasks = settings.data.train.length > 0 ? settings.data.train : [await writeTasks(environment, settings.output)]
    const service = await serveRollouts({
      environment,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(allowLive === undefined ? {} : { allowLive }),
      ...(threads === undefined ? {} : { threads }),
    })
    try {
      const { name, hash } = environment.file
      const complete = {
        ...settings,
        data: { ...settings.data, train: tasks },
        rollouts: { ...rolloutSettings(settings), service: service.url, environment: hash },
      }
      return await train(complete, { ...training, environments: [{ name, hash }] })
    } finally {
      await service.close()
    }
  } finally {
    await environment.close()
  }
}

function rolloutSettings(settings: TrainSettings): object {
  const given = settings['rollouts']
  return typeof given === 'object' && given !== null ? given : {}
}

/** One line a task, into the output folder; the same bytes for the same environment. */
async function writeTasks(environment: Environment, output: string): Promise<string> {
  const lines: string[] = []
  for await (const { id } of environment.tasks({ split: 'train' })) lines.push(`${JSON.stringify({ task: id })}\n`)
  if (lines.length === 0) {
    throw new HomegroundError('invalid-input', `${environment.folder} has no task of the split train`, {
      hint: 'build it from more sessions, or with another --splits',
    })
  }
  makeFolder(output)
  const file = path.join(path.resolve(output), 'tasks.jsonl')
  // The trainer would refuse it, and the file of the other run were lost.
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') !== lines.join('')) {
    throw new HomegroundError('run-mismatch', `${output} holds a run on other tasks than those of ${environment.folder}`, {
      hint: 'name another folder with --output, or delete this one to start over',
    })
  }
  fs.writeFileSync(file, lines.join(''))
  return file
}
