// What a run is expected to take, as the terminal shows it before the run begins.
import type { RunEstimate } from '../replay/run/estimate-run.ts'
import { inert, table } from './terminal.ts'

/** With a line break at its end. */
export function runEstimateText({ arms, tasks, read, isGuessed, costUsd, judgeCalls }: RunEstimate): string {
  if (read === 0) return `the ${tasks} tasks have no recordings to estimate calls and cost from\n`
  const rows = arms.map((arm) => [
    arm.name,
    arm.model,
    String(arm.rollouts),
    `~${arm.modelCalls}`,
    `~${arm.inputTokens}/${arm.outputTokens}`,
    arm.costUsd === undefined ? 'no price' : `~$${arm.costUsd.toFixed(arm.costUsd >= 1 ? 2 : 4)}`,
  ])
  const unpriced = arms.filter((arm) => arm.costUsd === undefined).map(({ model }) => inert(model))
  const basis = `estimated from the recorded calls of ${read === tasks ? `all ${tasks}` : `${read} of ${tasks}`} tasks${isGuessed ? ', where no tokens were counted from the length of their text' : ''}`
  const lines = [
    `${basis}${costUsd === undefined || arms.length === 1 ? '' : `; in all ~$${costUsd.toFixed(costUsd >= 1 ? 2 : 4)}`}`,
    ...(judgeCalls === 0 ? [] : [`and ${judgeCalls} questions to judges, whose cost is not in it`]),
    ...(unpriced.length === 0 ? [] : [`no price of ${[...new Set(unpriced)].join(', ')}: HOMEGROUND_PRICES may name a file that has it`]),
  ]
  return `${table(['arm', 'model', 'rollouts', 'calls', 'tokens', 'cost'], rows)}\n${lines.join('\n')}\n`
}
