// report.html: one self-contained file.
import { html, type Markup } from '../../rubric/markup.ts'
import { renderPage } from '../../rubric/page.ts'
import type { Comparison, PairComparison } from '../types.ts'
import { armsTable } from './arms-table.ts'
import type { Case } from './cases.ts'
import { frontierChart, offTapeChart } from './frontier-chart.ts'
import { type IntervalRow, intervalChart, scaleOf } from './interval-chart.ts'
import { pairSection } from './pair-section.ts'
import { toneOfVerdict, verdictCard } from './verdict-card.ts'

/** The page as text. Pure but for reading its template. */
export function renderReport(comparison: Comparison, cases: readonly Case[]): string {
  return renderPage(new URL('page.html', import.meta.url), {
    title: html`${comparison.title}: ${comparison.pairs.map((pair) => `${pair.candidate} ${pair.verdict.word}`).join(', ')}`,
    body: body(comparison, cases),
  })
}

function body(comparison: Comparison, cases: readonly Case[]): Markup {
  const { pairs, arms, baseline, notes } = comparison
  const margin = Math.max(...pairs.map((pair) => pair.margin))
  const rows = pairs.map(
    (pair): IntervalRow => ({
      label: pair.candidate,
      detail: pair.verdict.word,
      delta: pair.primary.delta,
      low: pair.primary.interval95.low,
      high: pair.primary.interval95.high,
      inner: pair.primary.interval90,
      tone: toneOfVerdict(pair.verdict.word),
    }),
  )
  return html`<header class="head">
    <p class="kicker">Homeground · comparison</p>
    <h1>${comparison.title}</h1>
    <dl class="facts">${comparison.facts.map(({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </header>
  <nav aria-label="Parts of this report"><a href="#verdict">Verdict</a><a href="#arms">Arms</a>${pairs.map(
    (pair, at) =>
      html`<a href="#pair-${at + 1}">${pairs.length > 1 ? pair.candidate : pair.design === 'paired' ? 'Tasks and episodes' : 'Beside it'}</a>`,
  )}<a href="#method">How it was decided</a></nav>
  <main>
    <section id="verdict">
      <div class="verdicts verdicts-${Math.min(pairs.length, 3)}">${pairs.map(verdictCard)}</div>
      <figure>${intervalChart(rows, scaleOf(rows, margin), margin)}<figcaption>Difference to <b>${baseline}</b>: 95 % interval, 90 % thicker. The band is the margin, ±${margin}: a 90 % interval inside it means equivalent.</figcaption></figure>
      ${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    </section>
    <section id="arms">
      <h2>Arms</h2>
      <div class="plots">${frontierChart(arms, baseline)}${arms.some((arm) => arm.offTape.outcomes > 0) ? offTapeChart(arms) : pairs.every((pair) => pair.design === 'paired') && html`<figure class="shares"><p class="empty">No arm left the tape.</p></figure>`}</div>
      ${armsTable(arms, baseline)}
    </section>
    ${pairs.map((pair, at) =>
      pairSection(
        pair,
        at + 1,
        cases.filter((item) => item.candidate === pair.candidate),
      ),
    )}
    ${pairs.some((pair) => pair.design === 'two-sample') ? methodOfSamples(pairs) : method(pairs)}
  </main>`
}

function method(pairs: readonly PairComparison[]): Markup {
  return html`<section id="method"><h2>How it was decided</h2>
    <p>One interval decides: that of the primary score’s paired difference, task by task (the mean over repeats of the candidate less that of the baseline), with CR2 standard errors clustered by session and Bell–McCaffrey degrees of freedom. In this order:</p>
    <ol>
      <li>The run is not finished: no verdict.</li>
      <li>Over 5 % of an arm’s scores are missing, and the verdict does not hold with them at worst and at best: inconclusive (censored).</li>
      <li>Over 20 % of recorded user turns were served after the candidate had gone another way: inconclusive (off-script).</li>
      <li>Fewer than 6 sessions: inconclusive. Nothing varies: the exact sign test over sessions decides.</li>
      <li>The 95 % interval excludes 0: better or worse.</li>
      <li>The 90 % interval lies within ±${pairs[0]?.margin ?? 0.05}, fixed before the run: equivalent.</li>
      <li>Else: inconclusive.</li>
    </ol>
    <p>A score that could not be made is left out, never read as 0.</p>
  </section>`
}

function methodOfSamples(pairs: readonly PairComparison[]): Markup {
  return html`<section id="method"><h2>How it was decided</h2>
    <p>The episodes are live traffic: each session was of one arm, so nothing is paired. One interval decides: that of the difference between the arms’ mean scores, with the CR2 standard error clustered by session and Bell–McCaffrey degrees of freedom. In this order:</p>
    <ol>
      <li>An arm has fewer than 6 sessions with a score: inconclusive.</li>
      <li>The share of episodes with a score differs between the arms, by more than 2 points and by more than chance: inconclusive (coverage).</li>
      <li>Nothing varies within either arm: the exact permutation test over sessions decides.</li>
      <li>The 95 % interval excludes 0: better or worse.</li>
      <li>The 90 % interval lies within ±${pairs[0]?.margin ?? 0.05}: equivalent.</li>
      <li>Else: inconclusive.</li>
    </ol>
    <p>Sessions that saw both arms are left out. A score that was not given is left out, never read as 0. Which session saw which arm must be chance: compare arms of the same period only.</p>
  </section>`
}
