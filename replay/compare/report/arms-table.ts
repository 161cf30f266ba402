// The arms beside each other: one row a measure, one column an arm.

import { html, type Insertable, type Markup } from '../../rubric/markup.ts'
import type { ArmSummary } from '../types.ts'
import { count, dollars, duration, percent, score } from './figures.ts'

export function armsTable(arms: readonly ArmSummary[], baseline: string): Markup {
  const most = Math.max(...arms.map((arm) => arm.passRates.length))
  const rows: ([string, (arm: ArmSummary) => Insertable] | undefined)[] = [
    [
      'score',
      (arm) =>
        html`<b>${score(arm.score.mean)}</b>${arm.score.mean !== null && html` <small>${score(arm.score.low)} – ${score(arm.score.high)}</small>`}`,
    ],
    ...Array.from({ length: Math.min(most, 8) }, (_, at): [string, (arm: ArmSummary) => Insertable] => [
      `pass^${at + 1}`,
      (arm) => score(arm.passRates[at]?.passHat),
    ]),
    most > 1 ? [`pass@${most}`, (arm) => score(arm.passRates[most - 1]?.passAt)] : undefined,
    arms.some((arm) => arm.wilson)
      ? [
          'passes',
          (arm) =>
            arm.wilson &&
            html`${percent(arm.wilson.rate)} <small>${percent(arm.wilson.low)} – ${percent(arm.wilson.high)} (Wilson)</small>`,
        ]
      : undefined,
    arms.some((arm) => arm.cost)
      ? ['cost, mean', (arm) => html`${dollars(arm.cost?.mean)}${arm.cost && html` <small>${dollars(arm.cost.total)} in all</small>`}`]
      : undefined,
    ...(['judges', 'simulators'] as const).map((who): [string, (arm: ArmSummary) => Insertable] | undefined =>
      arms.some((arm) => arm[who])
        ? [
            `${who}, in all`,
            (arm) => arm[who] && html`${dollars(arm[who].usd)} <small>${count(arm[who].calls)} calls, not in the cost</small>`,
          ]
        : undefined,
    ),
    arms.some((arm) => arm.inputTokens) ? ['input tokens, mean', (arm) => arm.inputTokens && count(arm.inputTokens.mean)] : undefined,
    arms.some((arm) => arm.outputTokens) ? ['output tokens, mean', (arm) => arm.outputTokens && count(arm.outputTokens.mean)] : undefined,
    ['time, p50', (arm) => duration(arm.durationMs.p50)],
    ['time, p95', (arm) => duration(arm.durationMs.p95)],
    [
      'off tape',
      (arm) => html`${percent(arm.offTape.share)}${arm.offTape.calls > 0 && html` <small>${count(arm.offTape.calls)} calls</small>`}`,
    ],
    arms.some((arm) => arm.userTurns.served > 0) ? ['user turns off script', (arm) => percent(arm.userTurns.share)] : undefined,
    arms.some((arm) => arm.unconsumedWrites > 0) ? ['recorded writes not made', (arm) => count(arm.unconsumedWrites)] : undefined,
    arms.some((arm) => arm.staleReads > 0) ? ['reads served stale', (arm) => count(arm.staleReads)] : undefined,
    [
      'without a score',
      (arm) => html`${percent(arm.nulls.share)}${arm.nulls.count > 0 && html` <small>${count(arm.nulls.count)}</small>`}`,
    ],
    ['errors', (arm) => count(arm.errors)],
    [
      'ended by',
      (arm) => Object.entries(arm.stops).map(([stop, times]) => html`<span class="stop">${stop} <small>${count(times)}</small></span> `),
    ],
    ['outcomes', (arm) => html`${count(arm.outcomes)}${arm.outcomes < arm.planned && html` <small>of ${count(arm.planned)}</small>`}`],
  ]
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The arms beside each other"><table class="arms">
    <thead><tr><td></td>${arms.map((arm) => html`<th scope="col">${arm.name}${arm.name === baseline && html` <span class="tag">baseline</span>`}<small>${arm.description}</small></th>`)}</tr></thead>
    <tbody>${rows.map((row) => row && html`<tr><th scope="row">${row[0]}</th>${arms.map((arm) => html`<td>${row[1](arm) ?? '–'}</td>`)}</tr>`)}</tbody>
  </table></div>`
}
