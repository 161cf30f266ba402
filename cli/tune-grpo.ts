// `homeground tune grpo`: reinforcement learning with the product's own harness; starts the rollout service and the trainer, and ends both.
import type { Command } from 'commander'
import { trainOnRollouts } from '../tune/rollout-service/index.ts'
import { countOf } from './option-values.ts'
import { runTraining, withTuneOptions } from './tune-run.ts'
import { settingsOf, type TuneOptions } from './tune-settings.ts'

interface GrpoOptions extends TuneOptions {
  environment: string
  concurrency?: number
  allowLive?: string[]
}

export function registerGrpo(tune: Command): void {
  const command = tune
    .command('grpo')
    .description("reinforcement learning: rollouts of an environment, played by the product's own harness with the model in training")
    .requiredOption('--environment <FOLDER>', 'the environment whose tasks of the split train are played')
    .option('--concurrency <N>', 'rollouts at a time (default: 32)', countOf)
    .option('--allow-live <TOOL...>', 'tools with side effects that may run, where the environment says live too')
  withTuneOptions(command).action(async (options: GrpoOptions, command: Command) => {
    const { environment, concurrency, allowLive } = options
    const settings = settingsOf('grpo', options, { name: environment })
    await runTraining(settings, options, command, (each, training) =>
      trainOnRollouts(each, {
        ...training,
        environment,
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(allowLive === undefined ? {} : { allowLive }),
      }),
    )
  })
}
