// What a rollout may take of its model: so many calls, so much money, what stands in for tools and users counted in. Out of either it ends where it stands; that is the candidate's doing, and it is scored.
import { HomegroundError } from '@homeground/sdk/trace'
import { errorBody } from '../gateway/http-answer.ts'
import type { GatewayAnswer, GatewayRequest, ModelSource } from '../gateway/types.ts'
import { usageCostUsd } from '../rubric/cost.ts'
import type { RolloutJob } from './types.ts'

/** Why the rollout was ended. */
export class BudgetSpent extends Error {
  readonly budget: 'max-steps' | 'max-cost'

  constructor(budget: BudgetSpent['budget']) {
    super(`the rollout's budget is spent: ${budget}`)
    this.name = 'BudgetSpent'
    this.budget = budget
  }
}

export class RolloutBudget {
  readonly #job: RolloutJob
  readonly #stop: (reason: Error) => void
  #calls = 0
  #spentUsd = 0

  /** `stop` ends the rollout. */
  constructor(job: RolloutJob, stop: (reason: Error) => void) {
    this.#job = job
    this.#stop = stop
  }

  /** The arm's model; the call that is over the budget is not made. */
  limited(source: ModelSource): ModelSource {
    const { harness, arm, prices = {} } = this.#job
    // A loop counts its own steps.
    const steps = harness.kind === 'module' || harness.kind === 'command' ? harness.maxSteps : undefined
    const money = harness.maxCostUsd
    if (steps === undefined && money === undefined) return source
    return {
      answer: async (request) => {
        const over =
          steps !== undefined && this.#calls >= steps
            ? 'max-steps'
            : money !== undefined && this.#spentUsd >= money
              ? 'max-cost'
              : undefined
        if (over !== undefined) {
          const reason = new BudgetSpent(over)
          this.#stop(reason)
          return refusal(request, this.#job, reason)
        }
        this.#calls += 1
        const answer = await source.answer(request)
        // The recorded model costs nothing.
        if (answer.response !== undefined && arm.model !== 'recorded')
          this.spend(answer.model, usageCostUsd(answer.model, answer.response.usage, prices))
        return answer
      },
    }
  }

  /** `costUsd`: `undefined` where it is not known, which ends a rollout that has a limit. */
  spend(model: string, costUsd: number | undefined): void {
    if (this.#job.harness.maxCostUsd === undefined) return
    if (costUsd === undefined) this.#stop(uncounted(model))
    else this.#spentUsd += costUsd
  }
}

function refusal(request: GatewayRequest, job: RolloutJob, reason: BudgetSpent): GatewayAnswer {
  return {
    status: 403,
    provider: 'homeground',
    model: job.arm.model,
    attempts: 0,
    untranslated: [],
    body: errorBody(request.api, reason.budget, reason.message),
  }
}

function uncounted(model: string): HomegroundError {
  return new HomegroundError('invalid-settings', `the cost of ${model} is not known, so no limit can be kept`, {
    hint: 'give its price in the file that HOMEGROUND_PRICES names, or take maxCostUsd out',
  })
}
