// A run as the terminal shows it when it has ended: a line an arm, why rollouts failed, and what to do next.
import path from 'node:path'
import type { Run } from '../replay/run/types.ts'
import type { ArmSummary } from './run-summary.ts'
import { inert, shellWord, table } from './terminal.ts'

/** With a line break at its end. */
export function runText(run: Run, arms: readonly ArmSummary[]): string {
  const rows = arms.map((arm) => [
    arm.name,
    arm.model,
    String(arm.rollouts),
    arm.score === null ? 'none' : arm.score.toFixed(3),
    String(arm.withoutScore),
    String(arm.errors),
    `${(arm.offTapeShare * 100).toFixed(1)} %`,
    `${arm.inputTokens}/${arm.outputTokens}`,
    arm.costUsd === undefined ? '' : `$${arm.costUsd.toFixed(4)}`,
    `${Math.round(arm.medianMs)} ms`,
  ])
  const head = ['arm', 'model', 'rollouts', 'score', 'no score', 'failed', 'off tape', 'tokens', 'cost', 'median']
  const shown = path.relative(process.cwd(), run.folder) || '.'
  const failures = arms.flatMap((arm) =>
    arm.failures.slice(0, 3).map(({ reason, count }) => `${inert(arm.name)}: ${count} of ${arm.rollouts} failed: ${inert(reason)}\n`),
  )
  const cached = arms.flatMap(({ name, cachedCalls }) =>
    cachedCalls === 0 ? [] : [`${inert(name)}: ${cachedCalls} model calls out of the cache\n`],
  )
  const paid = arms.flatMap(({ name, judgesUsd, simulatorsUsd }) =>
    Object.entries({ judges: judgesUsd, simulators: simulatorsUsd }).flatMap(([who, usd]) =>
      usd === undefined ? [] : [`${inert(name)}: ${who} cost $${usd.toFixed(4)} beside\n`],
    ),
  )
  const idle = arms.flatMap((arm) =>
    arm.unusedVariants.map(
      (name) => `warning: ${inert(arm.name)} sets the variant ${inert(name)}, and no rollout asked for one of that name\n`,
    ),
  )
  const played = arms.every((arm) => arm.errors < arm.rollouts)
  const next = arms.length > 1 && played ? `next: homeground compare ${shellWord(shown)}\n` : ''
  return `${table(head, rows)}\n${[...failures, ...unscoredLines(arms), ...cached, ...paid, ...idle].join('')}${run.size.done} of ${run.size.planned} rollouts in ${inert(shown)}\n${next}`
}

/** Why rollouts that did end have no score. */
export function unscoredLines(arms: readonly ArmSummary[]): string[] {
  return arms.flatMap(({ name, rollouts, unscored }) =>
    unscored.slice(0, 3).map(({ reason, count }) => `${inert(name)}: ${count} of ${rollouts} have no score: ${inert(reason)}\n`),
  )
}
