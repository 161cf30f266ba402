// All of one pair under its verdict: delta per task, criteria, slices, what else was computed, the episodes side by side, and every task.

import { html, type Markup } from '../../rubric/markup.ts'
import type { Estimate, PairComparison } from '../types.ts'
import { counted, signed } from '../verdict-sentence.ts'
import { caseView } from './case-view.ts'
import type { Case } from './cases.ts'
import { deltaChart } from './delta-chart.ts'
import { count, dollars, duration, percent, probability } from './figures.ts'
import { type IntervalRow, intervalChart, scaleOf } from './interval-chart.ts'
import { tasksTable } from './tasks-table.ts'

/** @param number of the pair on the page, from 1 */
export function pairSection(pair: PairComparison, number: number, cases: readonly Case[]): Markup {
  const anchors = new Map(cases.map((item) => [item.task, item.anchor]))
  // A criterion that scored no task in both arms (feedback in a replay, say) has no place on a scale: it is named under the chart.
  const scored = pair.criteria.filter((item) => item.tasks > 0)
  const unscored = pair.criteria.filter((item) => item.tasks === 0).map((item) => item.name)
  const criteria = scored.map((item) => row(item.name, item, `weight ${item.weight} · Holm ${probability(item.pHolm)}`))
  const slices = pair.slices.map((item) => row(`${item.tag}: ${item.value}`, item, counted(item.tasks, 'task')))
  if (pair.design === 'two-sample')
    return html`<section class="pair" id="pair-${number}">
    <h2>${pair.candidate} against ${pair.baseline}</h2>
    <h3>Shown, never deciding</h3>
    ${beside(pair)}
  </section>`
  return html`<section class="pair" id="pair-${number}">
    <h2>${pair.candidate} against ${pair.baseline}</h2>
    <h3>Difference by task</h3>
    ${deltaChart(pair.tasks, (task) => anchors.get(task))}
    ${criteria.length > 0 && html`<h3>By criterion</h3>${intervalChart(criteria, scaleOf(criteria, 0), 0)}`}
    ${unscored.length > 0 && html`<p class="note">No task has a score in both arms for: ${unscored.join(', ')}.</p>`}
    ${slices.length > 0 && html`<h3>By tag</h3><p class="note">Slices are for looking: none of them decides, and with many of them some will stand out by chance.</p>${intervalChart(slices, scaleOf(slices, 0), 0)}`}
    <h3>Shown, never deciding</h3>
    ${beside(pair)}
    <h3>Episodes side by side</h3>
    ${group(cases, 'regression', 'Regressions')}${group(cases, 'win', 'Wins')}${others(cases)}
    <h3>Every task</h3>
    ${tasksTable(pair, anchors)}
  </section>`
}

function beside(pair: PairComparison): Markup {
  const { shown, primary } = pair
  const { bootstrap, onTapeOnly, worst, best, coverage, signTest, mcnemar } = shown
  const run =
    pair.design === 'paired' ? { one: 'rollout', all: 'runs', this: 'run' } : { one: 'live episode', all: 'such periods', this: 'one' }
  const rows: IntervalRow[] = [
    {
      ...row('the verdict’s interval', { ...primary, low: primary.interval95.low, high: primary.interval95.high }, 'CR2, Bell–McCaffrey'),
      inner: primary.interval90,
    },
    ...(bootstrap
      ? [
          row(
            'cluster bootstrap',
            { ...bootstrap, delta: primary.delta, p: 1, tasks: 0, sessions: 0 },
            `${count(bootstrap.resamples)} resamples`,
          ),
        ]
      : []),
    ...(onTapeOnly ? [row('on tape only', onTapeOnly, counted(onTapeOnly.tasks, 'task'))] : []),
    row('missing scores as 0', shown.nullsAsZero, counted(shown.nullsAsZero.tasks, pair.design === 'paired' ? 'task' : 'episode')),
    ...(worst ? [row('missing against the candidate', worst, 'worst case')] : []),
    ...(best ? [row('missing for the candidate', best, 'best case')] : []),
    ...(coverage ? [row('share with a score', coverage, `${percent(coverage.baseline)} → ${percent(coverage.candidate)}`)] : []),
  ]
  return html`${intervalChart(rows, scaleOf(rows, pair.margin), pair.margin)}
    <ul class="beside">
      ${signTest && html`<li>Sign test over sessions: ${signTest.wins} better, ${signTest.losses} worse, ${signTest.ties} the same, ${probability(signTest.p)}.</li>`}
      ${mcnemar && html`<li>Exact McNemar over tasks: ${mcnemar.wins} won, ${mcnemar.losses} lost, ${probability(mcnemar.p)}.</li>`}
      ${shown.cost && html`<li>Cost of a ${run.one}: ${money(shown.cost)}.</li>`}
      ${shown.durationMs && html`<li>Time of a ${run.one}: ${shown.durationMs.delta >= 0 ? '+' : '−'}${duration(Math.abs(shown.durationMs.delta))}.</li>`}
      ${shown.sessionsForMargin !== undefined && html`<li>A difference of ±${pair.margin} would be found in 80 % of ${run.all} with ${count(shown.sessionsForMargin)} sessions; this ${run.this} has ${count(primary.sessions)}.</li>`}
    </ul>`
}

function money(estimate: Estimate): string {
  const sign = estimate.delta >= 0 ? '+' : '−'
  const range = Number.isFinite(estimate.low) ? ` (95 % interval ${dollars(estimate.low)} to ${dollars(estimate.high)})` : ''
  return `${sign}${dollars(Math.abs(estimate.delta))}${range}`
}

function row(label: string, estimate: Estimate, detail: string): IntervalRow {
  const tone = estimate.low > 0 ? 'better' : estimate.high < 0 ? 'worse' : 'even'
  return { label, detail: `${signed(estimate.delta)} · ${detail}`, delta: estimate.delta, low: estimate.low, high: estimate.high, tone }
}

function group(cases: readonly Case[], kind: Case['kind'], title: string): Markup {
  const members = cases.filter((item) => item.kind === kind)
  return html`<h4 class="group">${title}</h4>${members.length === 0 ? html`<p class="empty">None.</p>` : members.map(caseView)}`
}

function others(cases: readonly Case[]): Markup | false {
  const members = cases.filter((item) => item.kind === 'unscored' || item.kind === 'same')
  return members.length > 0 && html`<h4 class="group">Without a score, or the same</h4>${members.map(caseView)}`
}
