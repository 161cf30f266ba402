// Cost against score: where an arm is neither dearer nor worse than any other it lies on the frontier. Without prices, tokens stand in; without tokens, time.

import { html, type Markup } from '../../rubric/markup.ts'
import type { ArmSummary } from '../types.ts'
import { count, dollars, duration, percent, score } from './figures.ts'
import { spreadLabels } from './spread-labels.ts'

interface Point {
  arm: ArmSummary
  x: number
  y: number
  onFrontier: boolean
}

/** Percent of the plot, whose height is 17 rem; how wide a name is follows from the narrowest page (20 rem). */
const line = (1.3 / 17) * 100
const character = (0.55 / 20) * 100

/** Nothing where no arm has a score. */
export function frontierChart(arms: readonly ArmSummary[], baseline: string): Markup | undefined {
  const scored = arms.filter((arm) => arm.score.mean !== null)
  if (scored.length === 0) return undefined
  const { name, value, shown } = costMeasure(scored)
  const points = scored.map((arm): Point => ({ arm, x: value(arm), y: arm.score.mean ?? 0, onFrontier: false }))
  for (const point of points)
    point.onFrontier = !points.some((other) => other.x <= point.x && other.y >= point.y && (other.x < point.x || other.y > point.y))
  const right = Math.max(...points.map((point) => point.x)) * 1.15 || 1
  const frontier = points.filter((point) => point.onFrontier).toSorted((a, b) => a.x - b.x)
  const left = (x: number) => Number(((x / right) * 100).toFixed(2))
  const top = (y: number) => Number(((1 - y) * 100).toFixed(2))
  const names = namesOf(points.map((point) => ({ name: point.arm.name, left: left(point.x), top: top(point.y) })))
  return html`<figure class="frontier">
    <div class="frontier-plot" role="img" aria-label="${points.map((point) => `${point.arm.name}: ${shown(point.x)}, score ${score(point.y)}`).join('; ')}">
      ${[0, 0.25, 0.5, 0.75, 1].map((y) => html`<span class="grid" style="top:${top(y)}%"><small>${y}</small></span>`)}
      <svg viewBox="0 0 100 100" preserveAspectRatio="none"><polyline points="${frontier.map((point) => `${left(point.x)},${top(point.y)}`).join(' ')}" class="frontier-line" vector-effect="non-scaling-stroke" />${names.map(({ leader }) => leader)}</svg>
      ${points.map(
        (
          point,
        ) => html`<span class="whisker" style="left:${left(point.x)}%;top:${top(point.arm.score.high)}%;height:${top(point.arm.score.low) - top(point.arm.score.high)}%"></span>
      <span class="point ${point.onFrontier ? 'on' : 'off'} ${point.arm.name === baseline ? 'base' : ''}" style="left:${left(point.x)}%;top:${top(point.y)}%"></span>`,
      )}
      ${names.map(({ label }) => label)}
      <span class="x from">0</span><span class="x to">${shown(right)}</span>
    </div>
    <figcaption>Score (0 to 1, with its 95 % interval) over ${name}. Filled: on the frontier.</figcaption>
  </figure>`
}

/** Each name beside its point, on the side with more room; one that had to move is led to by a line. */
function namesOf(points: readonly { name: string; left: number; top: number }[]): { label: Markup; leader: Markup | false }[] {
  const places = points.map(({ name, left, top }) => {
    const flip = left > 50
    const width = Math.min((name.length + 2) * character, flip ? left : 100 - left)
    return { flip, from: flip ? left - width : left, to: flip ? left : left + width, middle: top }
  })
  const middles = spreadLabels(places, line)
  return points.map(({ name, left, top }, index) => {
    const flip = places[index]?.flip === true
    const middle = Number((middles[index] ?? top).toFixed(2))
    const side = flip
      ? `right:calc(${100 - left}% + 14px);max-width:calc(${left}% - 14px)`
      : `left:calc(${left}% + 14px);max-width:calc(${100 - left}% - 14px)`
    return {
      label: html`<b class="point-name" style="${side};top:${middle}%" title="${name}">${name}</b>`,
      leader:
        Math.abs(middle - top) > line / 4 &&
        html`<line x1="${left}" y1="${top}" x2="${flip ? left - 4 : left + 4}" y2="${middle}" class="leader" vector-effect="non-scaling-stroke" />`,
    }
  })
}

/** Off-tape share of each arm, as bars. */
export function offTapeChart(arms: readonly ArmSummary[]): Markup {
  return html`<figure class="shares">${arms.map(
    (arm) =>
      html`<div class="share"><span class="share-label">${arm.name}</span><span class="share-track"><span style="width:${Number((arm.offTape.share * 100).toFixed(2))}%"></span></span><span class="number">${percent(arm.offTape.share)}</span></div>`,
  )}<figcaption>Share of rollouts that made a call which the tape does not answer. Their scores rest on more than the recording.</figcaption></figure>`
}

function costMeasure(arms: readonly ArmSummary[]): { name: string; value: (arm: ArmSummary) => number; shown: (x: number) => string } {
  if (arms.every((arm) => arm.cost)) return { name: 'mean cost of a rollout', value: (arm) => arm.cost?.mean ?? 0, shown: dollars }
  if (arms.every((arm) => arm.outputTokens))
    return {
      name: 'mean output tokens of a rollout (no prices are known)',
      value: (arm) => arm.outputTokens?.mean ?? 0,
      shown: (x) => `${count(x)} tokens`,
    }
  return { name: 'mean time of a rollout (no prices or tokens are known)', value: (arm) => arm.durationMs.mean, shown: duration }
}
