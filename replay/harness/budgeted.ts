// What a rollout may take of its model: so many calls, so much money. Out of either it ends where it stands; that is the candidate's doing, and it is scored.
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

/** `stop` ends the rollout; the call that was over the budget is not made. */
export function budgeted(source: ModelSource, job: RolloutJob, stop: (reason: Error) => void): ModelSource {
  const { maxSteps, maxCostUsd } = job.harness
  // A loop counts its own steps; the recorded model costs nothing.
  const steps = job.harness.kind === 'module' || job.harness.kind === 'command' ? maxSteps : undefined
  const money = job.arm.model === 'recorded' ? undefined : maxCostUsd
  if (steps === undefined && money === undefined) return source
  let calls = 0
  let spentUsd = 0
  return {
    async answer(request) {
      const over = steps !== undefined && calls >= steps ? 'max-steps' : money !== undefined && spentUsd >= money ? 'max-cost' : undefined
      if (over !== undefined) {
        const reason = new BudgetSpent(over)
        stop(reason)
        return refusal(request, job, reason)
      }
      calls += 1
      const answer = await source.answer(request)
      if (money === undefined || answer.response === undefined) return answer
      const cost = usageCostUsd(answer.model, answer.response.usage, job.prices ?? {})
      if (cost === undefined) stop(uncounted(answer.model))
      else spentUsd += cost
      return answer
    },
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
