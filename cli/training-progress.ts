// Shows a training run in the terminal: what the trainer says as lines, its steps as the progress line of every command.
import type { TrainerEvent } from '../tune/train/index.ts'
import { progressLine } from './progress.ts'

export interface TrainingProgress {
  show(event: TrainerEvent): void
  /** Leaves the cursor on a fresh line. */
  end(): void
}

export function trainingProgress(options: { json: boolean }): TrainingProgress {
  let line = progressLine('steps', options)
  return {
    show(event) {
      if (event.event === 'step') {
        const reward = event.reward === undefined ? '' : `, reward ${figure(event.reward)}`
        const offTape = event.offTapeShare ? `, ${Math.round(event.offTapeShare * 100)} % off tape` : ''
        const failed = event.errored ? `, ${event.errored} of ${event.rollouts} rollouts failed` : ''
        line.show(event.step, event.steps, `loss ${figure(event.loss)}${reward}${offTape}${failed}`)
        return
      }
      // What is left is reckoned from the first step on, not from when torch began to load.
      if (event.event === 'training') line = progressLine('steps', options)
      const text = sentence(event)
      if (text === undefined || options.json) return
      line.end()
      process.stderr.write(`${text}\n`)
    },
    end: () => line.end(),
  }
}

/** Undefined for what the command itself shows, or nobody needs to see. */
function sentence(event: TrainerEvent): string | undefined {
  switch (event.event) {
    case 'start':
      return `${event.recipe} on ${event.rows} rows${event.validationRows > 0 ? `, ${event.validationRows} to measure on` : ''}`
    case 'rows': {
      const { p50, p95, max } = event.tokens
      return `${event.split}: ${event.kept} rows of ${p50} tokens (p95 ${p95}, max ${max}), ${Math.round(event.trainedShare * 100)} % trained`
    }
    case 'memory':
      return `memory: about ${gib(event.total)} needed, ${gib(event.free)} free`
    case 'training': {
      const from = event.resumedFrom === null ? '' : `; going on from ${event.resumedFrom}`
      return `${event.trainable.toLocaleString('en')} parameters on ${event.device}; template: ${event.template}${from}`
    }
    case 'evaluation':
      return `held-out loss after step ${event.step}: ${figure(event.loss)}`
    case 'warning':
      return `warning (${event.code}): ${event.message}`
    default:
      return undefined
  }
}

function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? '?' : value.toFixed(3)
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}
