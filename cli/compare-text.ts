// A comparison in the terminal: the verdicts first, then the arms beside each other, then what a reader must know.
import type { ArmSummary, Comparison } from '../replay/compare/index.ts'
import { inert, table } from './terminal.ts'

/** Ends with a line break. */
export function comparisonText(comparison: Comparison): string {
  const { pairs, arms, baseline, notes } = comparison
  const verdicts = pairs.map((pair) => `${pair.verdict.word.toUpperCase()} (${pair.verdict.reason}): ${inert(pair.sentence)}\n`)
  const most = Math.max(...arms.map((arm) => arm.passRates.length))
  const measures: [string, (arm: ArmSummary) => string][] = [
    ['score', ({ score }) => (score.mean === null ? '–' : `${score.mean.toFixed(3)} [${score.low.toFixed(3)}, ${score.high.toFixed(3)}]`)],
    ...Array.from({ length: Math.min(most, 8) }, (_, at): [string, (arm: ArmSummary) => string] => [
      `pass^${at + 1}`,
      (arm) => arm.passRates[at]?.passHat.toFixed(3) ?? '–',
    ]),
    ['cost, mean', ({ cost }) => (cost ? `$${Number(cost.mean.toPrecision(3))}` : '–')],
    ['output tokens, mean', ({ outputTokens }) => (outputTokens ? Math.round(outputTokens.mean).toString() : '–')],
    ['time, p50 / p95', ({ durationMs }) => `${seconds(durationMs.p50)} / ${seconds(durationMs.p95)}`],
    ['off tape', ({ offTape }) => percent(offTape.share)],
    ['without a score', ({ nulls }) => percent(nulls.share)],
    ['outcomes', ({ outcomes, planned }) => (outcomes === planned ? String(outcomes) : `${outcomes} of ${planned}`)],
  ]
  const head = ['', ...arms.map((arm) => (arm.name === baseline ? `${inert(arm.name)} (baseline)` : inert(arm.name)))]
  const rows = measures.map(([name, value]) => [name, ...arms.map(value)])
  return [verdicts.join(''), table(head, rows), notes.map((note) => `note: ${inert(note)}\n`).join('')]
    .filter((part) => part !== '')
    .join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
