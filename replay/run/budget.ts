// What a run has spent on models, its own judges and simulators counted in, and whether there is more to spend.
import { type Episode, HomegroundError } from '@homeground/sdk/trace'
import type { Environment } from '../environment/types.ts'
import type { Billed } from '../rubric/bill.ts'
import { type Prices, priceOf } from '../rubric/cost.ts'
import type { Arm, Rollout } from './types.ts'

export class Budget {
  readonly #maxUsd: number | undefined
  /** Arms that ask nobody. */
  readonly #free: ReadonlySet<string>
  #spentUsd = 0

  /** @throws HomegroundError invalid-settings: there is a limit, and a model whose cost nobody could count */
  constructor(maxUsd: number | undefined, models: { arms: readonly Arm[]; others: readonly string[] }, prices: Prices) {
    this.#maxUsd = maxUsd
    this.#free = new Set(models.arms.filter(({ model }) => model === 'recorded').map(({ name }) => name))
    const asked = [...models.arms.map(({ model }) => model).filter((model) => model !== 'recorded'), ...models.others]
    const unpriced = new Set(asked.filter((model) => priceOf(model, prices) === undefined))
    if (maxUsd !== undefined && unpriced.size > 0) throw noPrice([...unpriced].join(', '))
  }

  get spentUsd(): number {
    return this.#spentUsd
  }

  get isSpent(): boolean {
    return this.#maxUsd !== undefined && this.#spentUsd >= this.#maxUsd
  }

  /** A rollout that an earlier call of the run played. */
  countEarlier({ arm, costUsd, simulators, judges }: Rollout): void {
    if (!this.#free.has(arm)) this.#spentUsd += costUsd ?? 0
    this.#spentUsd += (simulators?.costUsd ?? 0) + (judges?.costUsd ?? 0)
  }

  /** What judges took outside a rollout. @throws HomegroundError invalid-settings: there is a limit, and one answered without saying how many tokens it took */
  countJudges(billed: Billed | undefined): void {
    if (this.#maxUsd !== undefined && billed !== undefined && billed.costUsd === undefined) throw noPrice('the judge')
    this.#spentUsd += billed?.costUsd ?? 0
  }

  /** @throws HomegroundError invalid-settings: there is a limit, and a model answered without saying how many tokens it took */
  count(rollout: Rollout, episode: Episode): void {
    this.countEarlier(rollout)
    if (this.#maxUsd === undefined) return
    const { simulators, judges } = rollout
    if (simulators !== undefined && simulators.costUsd === undefined) throw noPrice("the environment's simulator")
    if (judges !== undefined && judges.costUsd === undefined) throw noPrice("the rubric's judges")
    if (rollout.costUsd !== undefined || this.#free.has(rollout.arm)) return
    const answered = episode.steps.find((step) => step.kind === 'model' && step.response !== undefined)
    if (answered?.kind === 'model') throw noPrice(answered.model)
  }
}

/** The models that a run asks beside its arms': judges, and the simulator where something is simulated. */
export function otherModels({ file, rubric }: Pick<Environment, 'file' | 'rubric'>): string[] {
  const judges = rubric.criteria.flatMap((criterion) => (criterion.type === 'judge' ? criterion.model : []))
  const simulates =
    file.user.mode === 'simulate' || Object.values(file.tools).some(({ mode, onMiss }) => mode === 'simulate' || onMiss === 'simulate')
  return [...new Set([...judges, ...(file.simulator !== undefined && simulates ? [file.simulator.model] : [])])]
}

function noPrice(models: string): HomegroundError {
  return new HomegroundError('invalid-settings', `the cost of ${models} is not known, so no limit can be kept`, {
    hint: 'give its price in the file that HOMEGROUND_PRICES names ({ "MODEL": { "input": 0, "output": 0 } } for one that costs nothing), or leave the limit out',
  })
}
