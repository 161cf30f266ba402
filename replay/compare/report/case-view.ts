// One task with both episodes side by side: scores with their reasons, then the conversations, marked where they part.

import { askedFirst } from '../../rubric/episode-reading.ts'
import { html, type Markup } from '../../rubric/markup.ts'
import { partingTurn, type Turn, transcript } from '../../rubric/transcript.ts'
import { signed } from '../verdict-sentence.ts'
import type { Case, CaseSide } from './cases.ts'
import { dollars, duration, score } from './figures.ts'

const words = { regression: 'worse', win: 'better', unscored: 'no score', same: 'the same' }

export function caseView(item: Case): Markup {
  const from = item.from?.episode ? transcript(item.from.episode) : []
  const to = item.to?.episode ? transcript(item.to.episode) : []
  const parting = from.length > 0 && to.length > 0 ? partingTurn(from, to) : undefined
  const [asked = ''] = [item.from, item.to].flatMap((one) => (one?.episode ? [askedFirst(one.episode).slice(0, 160)] : []))
  return html`<details class="case tone-${toneOf(item)}" id="${item.anchor}">
    <summary><span class="case-task">${item.task}</span><span class="case-delta">${item.delta === null ? '–' : signed(item.delta)}</span><span class="case-word">${words[item.kind]}</span>${
      asked !== ''
        ? html`<span class="case-asked">${asked}</span>`
        : item.session !== item.task && html`<span class="case-asked">${item.session}</span>`
    }</summary>
    <div class="sides">${side(item.baseline, item.from, from, parting)}${side(item.candidate, item.to, to, parting)}</div>
  </details>`
}

export function toneOf(item: { kind: Case['kind'] }): string {
  return item.kind === 'regression' ? 'worse' : item.kind === 'win' ? 'better' : 'even'
}

function side(arm: string, given: CaseSide | undefined, turns: readonly Turn[], parting: number | undefined): Markup {
  if (!given) return html`<section class="side"><h4>${arm}</h4><p class="empty">No outcome of this arm.</p></section>`
  const { outcome, episode } = given
  const facts = [
    `repeat ${outcome.repeat + 1}`,
    duration(outcome.durationMs),
    outcome.costUsd === undefined ? undefined : dollars(outcome.costUsd),
    outcome.stop === 'done' ? undefined : `ended by ${outcome.stop}`,
    outcome.offTape.count > 0 ? `${outcome.offTape.count} ${outcome.offTape.count === 1 ? 'call' : 'calls'} off tape` : undefined,
  ].filter((fact) => fact !== undefined)
  return html`<section class="side" aria-label="${arm}">
    <h4>${arm} <b>${score(outcome.score)}</b></h4>
    <p class="side-facts">${facts.join(' · ')}</p>
    <ul class="reasons">${Object.entries(outcome.scores).map(
      ([name, { value, reason }]) =>
        html`<li><span class="reason-name">${name}</span> <b>${value === null ? '–' : Number(value.toFixed(3))}</b> <span>${reason.slice(0, 600)}</span></li>`,
    )}</ul>
    ${outcome.error && html`<p class="turn turn-error"><b>${outcome.error.type}</b> ${outcome.error.message}</p>`}
    ${episode ? turns.map((turn, at) => [at === parting && html`<p class="parting">from here on the two differ</p>`, turnView(turn)]) : html`<p class="empty">The episode is not in the run folder.</p>`}
    ${episode && html`<p class="side-id"><code>${episode.id}</code></p>`}
  </section>`
}

function turnView(turn: Turn): Markup {
  if (turn.kind === 'system')
    return html`<details class="turn turn-system"><summary>system</summary><p class="text">${turn.text}</p></details>`
  return html`<div class="turn turn-${turn.kind}"><p class="turn-head">${turn.head}${turn.offTape !== undefined && html` <span class="tag off">off tape: ${turn.offTape}</span>`}</p>${
    turn.text !== '' && html`<p class="text">${turn.text}</p>`
  }</div>`
}
