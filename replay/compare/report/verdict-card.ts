// The verdict first: the word, the sentence, and the numbers that it rests on.

import { html, type Markup } from '../../rubric/markup.ts'
import type { PairComparison } from '../types.ts'
import type { PrimaryEstimate, VerdictWord } from '../verdict.ts'
import { signed } from '../verdict-sentence.ts'
import { count, probability } from './figures.ts'

const signs: Record<VerdictWord, string> = { better: '▲', worse: '▼', equivalent: '=', inconclusive: '?', none: '…' }
const methods: Record<PrimaryEstimate['method'], string> = {
  t: 'by t',
  'sign-test': 'by sign test',
  'permutation-test': 'by permutation',
}

export function verdictCard(pair: PairComparison): Markup {
  const { primary, verdict, shown } = pair
  const figures: [string, string][] = [
    ['difference', signed(primary.delta)],
    ['95 % interval', `${signed(primary.interval95.low)} to ${signed(primary.interval95.high)}`],
    [methods[primary.method], probability(primary.p)],
    [pair.design === 'paired' ? 'tasks' : 'rated episodes', count(primary.tasks)],
    ['sessions', count(primary.sessions)],
  ]
  if (shown.detectableDifference !== undefined) figures.push(['could have found', signed(shown.detectableDifference).replace('+', '±')])
  if (verdict.word === 'inconclusive' && shown.sessionsForMargin !== undefined)
    figures.push([`sessions to find ±${pair.margin}`, count(shown.sessionsForMargin)])
  return html`<article class="verdict tone-${toneOfVerdict(verdict.word)}">
    <p class="verdict-word"><span aria-hidden="true">${signs[verdict.word]}</span> ${verdict.word}</p>
    <p class="verdict-pair"><b>${pair.candidate}</b> against <b>${pair.baseline}</b></p>
    <p class="verdict-sentence">${pair.sentence}</p>
    <dl class="figures">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </article>`
}

export function toneOfVerdict(word: VerdictWord): string {
  return word === 'better' || word === 'worse' ? word : 'even'
}
