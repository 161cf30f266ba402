// What a run has spent on model calls, and whether there is more to spend. Judges and simulated tools are not in it.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import { type Prices, priceOf } from '../rubric/cost.ts'
import type { Arm, Rollout } from './types.ts'

export class Budget {
  readonly #maxUsd: number | undefined
  /** Arms that ask nobody. */
  readonly #free: ReadonlySet<string>
  #spentUsd = 0

  /** @throws HomegroundError invalid-settings: there is a limit, and an arm whose cost nobody could count */
  constructor(maxUsd: number | undefined, arms: readonly Arm[], prices: Prices) {
    this.#maxUsd = maxUsd
    this.#free = new Set(arms.filter(({ model }) => model === 'recorded').map(({ name }) => name))
    const unpriced = arms.filter(({ model }) => model !== 'recorded' && priceOf(model, prices) === undefined)
    if (maxUsd !== undefined && unpriced.length > 0) throw noPrice(unpriced.map(({ model }) => model).join(', '))
  }

  get spentUsd(): number {
    return this.#spentUsd
  }

  get isSpent(): boolean {
    return this.#maxUsd !== undefined && this.#spentUsd >= this.#maxUsd
  }

  /** A rollout that an earlier call of the run played. */
  countEarlier(rollout: Rollout): void {
    if (!this.#free.has(rollout.arm)) this.#spentUsd += rollout.costUsd ?? 0
  }

  /** @throws HomegroundError invalid-settings: there is a limit, and the model answered without saying how many tokens it took */
  count(rollout: Rollout, episode: Episode): void {
    this.countEarlier(rollout)
    if (this.#maxUsd === undefined || rollout.costUsd !== undefined || this.#free.has(rollout.arm)) return
    const answered = episode.steps.find((step) => step.kind === 'model' && step.response !== undefined)
    if (answered?.kind === 'model') throw noPrice(answered.model)
  }
}

function noPrice(models: string): HomegroundError {
  return new HomegroundError('invalid-settings', `the cost of ${models} is not known, so no limit can be kept`, {
    hint: 'give its price in the file that HOMEGROUND_PRICES names ({ "MODEL": { "input": 0, "output": 0 } } for one that costs nothing), or leave the limit out',
  })
}
