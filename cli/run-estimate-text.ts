// What a run is expected to take, as the terminal shows it before the run begins.
import type { RunEstimate } from '../replay/run/estimate-run.ts'
import { inert, table } from './terminal.ts'

/** With a line break at its end. */
export function runEstimateText({ arms, tasks, read, isGuessed, costUsd, judges, simulators }: RunEstimate): string {
  if (read === 0) return `the ${tasks} tasks have no recordings to estimate calls and cost from\n`
  const rows = arms.map((arm) => [
    arm.name,
    arm.model,
    String(arm.rollouts),
    `~${arm.modelCalls}`,
    `~${arm.inputTokens}/${arm.outputTokens}`,
    dollarsOf(arm),
  ])
  const others = Object.entries({ judges, simulators }).flatMap(([name, asked]) =>
    asked === undefined ? [] : [[name, '', '', `~${asked.calls}`, `~${asked.inputTokens}/${asked.outputTokens}`, dollarsOf(asked)]],
  )
  const unpriced = arms.filter((arm) => arm.costUsd === undefined).map(({ model }) => inert(model))
  const basis = `estimated from the recorded calls of ${read === tasks ? `all ${tasks}` : `${read} of ${tasks}`} tasks${isGuessed ? ', where no tokens were counted from the length of their text' : ''}`
  const lines = [
    `${basis}${costUsd === undefined || arms.length + others.length === 1 ? '' : `; in all ${dollarsOf({ costUsd })}`}`,
    ...(unpriced.length === 0 ? [] : [`no price of ${[...new Set(unpriced)].join(', ')}: HOMEGROUND_PRICES may name a file that has it`]),
  ]
  return `${table(['arm', 'model', 'rollouts', 'calls', 'tokens', 'cost'], [...rows, ...others])}\n${lines.join('\n')}\n`
}

function dollarsOf({ costUsd }: { costUsd?: number }): string {
  return costUsd === undefined ? 'no price' : `~$${costUsd.toFixed(costUsd >= 1 ? 2 : 4)}`
}
