// Shows a training run in the terminal: one line that is written over where there is a person, a line now and then where there is a log.
import type { TrainerEvent } from '../tune/train/index.ts'

export class TrainingProgress {
  readonly #out: NodeJS.WriteStream
  readonly #now: () => number
  #startedAt: number | undefined
  #firstStep = 0
  #lastShown = -1
  #isOpen = false

  constructor(out: NodeJS.WriteStream, now: () => number = Date.now) {
    this.#out = out
    this.#now = now
  }

  show(event: TrainerEvent): void {
    if (event.event === 'step') this.#step(event)
    else {
      const text = sentence(event)
      if (text !== undefined) this.#line(text)
    }
  }

  /** Leaves the cursor on a fresh line. */
  end(): void {
    if (this.#isOpen) this.#out.write('\n')
    this.#isOpen = false
  }

  #step(event: Extract<TrainerEvent, { event: 'step' }>): void {
    if (this.#startedAt === undefined) {
      this.#startedAt = this.#now()
      this.#firstStep = event.step
    }
    const done = event.step - this.#firstStep
    const each = done > 0 ? (this.#now() - this.#startedAt) / done : undefined
    const left = each === undefined ? '' : `, ${(each / 1000).toFixed(1)} s a step, ${minutes(each * (event.steps - event.step))} left`
    const reward = event.reward === undefined ? '' : `, reward ${figure(event.reward)}`
    const text = `step ${event.step}/${event.steps}  loss ${figure(event.loss)}${reward}${left}`
    if (this.#out.isTTY) {
      this.#out.write(`\r${text.padEnd(78)}`)
      this.#isOpen = true
      return
    }
    const tenth = Math.floor((event.step / event.steps) * 10)
    if (tenth !== this.#lastShown) this.#line(text)
    this.#lastShown = tenth
  }

  #line(text: string): void {
    this.end()
    this.#out.write(`${text}\n`)
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

function minutes(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}
