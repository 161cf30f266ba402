// The interval chart: differences with their intervals on one scale, the margin as a band, zero as a line. Positions are percentages, so it fits any width.

import { html, type Markup } from '../../rubric/markup.ts'
import { signed } from '../verdict-sentence.ts'

export interface IntervalRow {
  label: string
  detail?: string
  delta: number
  low: number
  high: number
  /** The inner interval, drawn thicker. */
  inner?: { low: number; high: number }
  /** `better`, `worse` or anything else: the colour. */
  tone: string
}

export interface Scale {
  /** Half the width: the scale runs from -reach to +reach. */
  reach: number
}

/** A scale that holds every interval and the margin; ends that are infinite do not stretch it. */
export function scaleOf(rows: readonly IntervalRow[], margin: number): Scale {
  const ends = rows
    .flatMap((row) => [row.low, row.high, row.delta])
    .filter(Number.isFinite)
    .map(Math.abs)
  const most = Math.max(margin * 1.5, ...ends, 0.01) * 1.1
  // The next of 1, 2, 5 x 10^n tenths keeps tick labels short.
  const unit = 10 ** Math.floor(Math.log10(most))
  return { reach: unit * ([1, 1.5, 2, 3, 4, 5, 7.5, 10].find((step) => step * unit >= most) ?? 10) }
}

/** @param margin drawn as a band; 0 = none */
export function intervalChart(rows: readonly IntervalRow[], scale: Scale, margin: number): Markup {
  const ticks = [-1, -0.5, 0, 0.5, 1].map((part) => part * scale.reach)
  return html`<div class="intervals" role="img" aria-label="${rows.map(spoken).join('; ')}">
    ${rows.map((row) => intervalRow(row, scale, margin))}
    <div class="interval axis"><div class="interval-label"></div><div class="interval-track">${ticks.map(
      (tick) => html`<span class="tick" style="left:${at(tick, scale)}%">${tick === 0 ? '0' : signedShort(tick)}</span>`,
    )}</div></div>
  </div>`
}

function intervalRow(row: IntervalRow, scale: Scale, margin: number): Markup {
  const bar = (low: number, high: number, kind: string) =>
    html`<span class="bar ${kind}" style="left:${at(low, scale)}%;width:${(at(high, scale) - at(low, scale)).toFixed(3)}%"></span>`
  return html`<div class="interval tone-${row.tone}">
    <div class="interval-label"><span>${row.label}</span>${row.detail !== undefined && html`<small>${row.detail}</small>`}</div>
    <div class="interval-track">
      ${margin > 0 && bar(-margin, margin, 'margin')}
      <span class="zero" style="left:50%"></span>
      ${bar(row.low, row.high, 'outer')}
      ${row.inner && bar(row.inner.low, row.inner.high, 'inner')}
      <span class="dot" style="left:${at(row.delta, scale)}%"></span>
    </div>
  </div>`
}

function at(value: number, { reach }: Scale): number {
  const share = (Math.min(reach, Math.max(-reach, value)) + reach) / (2 * reach)
  return Number((share * 100).toFixed(3))
}

function spoken(row: IntervalRow): string {
  return `${row.label}: ${signed(row.delta)}, 95 % interval ${signed(row.low)} to ${signed(row.high)}`
}

function signedShort(value: number): string {
  return `${value > 0 ? '+' : '−'}${Number(Math.abs(value).toPrecision(3))}`
}
