// Says a verdict to a person, in one sentence with the numbers that it rests on.
import type { Design } from './types.ts'
import { censoredShare, fewestSessions, offScriptShare, type PrimaryEstimate, type Verdict } from './verdict.ts'

/** E.g. `b is better than a: +0.120 (95 % interval +0.050 to +0.190), 50 tasks in 50 sessions.` */
export function verdictSentence(
  verdict: Verdict,
  primary: PrimaryEstimate,
  { design, baseline, candidate, margin }: { design: Design; baseline: string; candidate: string; margin: number },
): string {
  const { word, reason } = verdict
  const open = `${candidate} against ${baseline}`
  const size =
    design === 'paired'
      ? `${counted(primary.tasks, 'task')} in ${counted(primary.sessions, 'session')}`
      : `${counted(primary.tasks, 'rated episode')} in ${counted(primary.sessions, 'session')}, each of one arm: two samples, unpaired`
  const range = `${signed(primary.delta)} (95 % interval ${signed(primary.interval95.low)} to ${signed(primary.interval95.high)})`
  switch (reason) {
    case 'unfinished':
      return `No verdict on ${open}: the run is not finished.`
    case 'censored':
      return `${open} is inconclusive: more than ${percent(censoredShare)} of an arm's scores are missing, and the verdict changes with them set to worst and best.`
    case 'coverage':
      return `${open} is inconclusive: the share of episodes that have a score differs between the arms, so those that have one are not alike.`
    case 'off-script':
      return `${open} is inconclusive: more than ${percent(offScriptShare)} of the recorded user turns were served after the candidate had gone another way.`
    case 'too-few-sessions':
      return `${open} is inconclusive: ${counted(primary.fewestSessions, 'session')}${design === 'paired' ? '' : ' of an arm'} ${primary.fewestSessions === 1 ? 'is' : 'are'} fewer than ${fewestSessions}.`
    case 'zero-variance':
      return `${open} is inconclusive: ${design === 'paired' ? 'every session sums to the same difference' : 'nothing varies within either arm; the difference is'}, ${signed(primary.delta)}, and the exact test finds none.`
    case 'identical':
      return `${candidate} and ${baseline} score the same on every ${design === 'paired' ? 'task' : 'episode'} (${size}).`
    case 'sign-test':
      return `${candidate} is ${word} than ${baseline}: ${signed(primary.delta)} in every one of ${primary.sessions} sessions (sign test, p = ${primary.p.toPrecision(2)}).`
    case 'permutation-test':
      return `${candidate} is ${word} than ${baseline}: ${signed(primary.delta)} between arms that vary not at all, ${size} (exact permutation test, p = ${primary.p.toPrecision(2)}).`
    case 'interval':
      return `${candidate} is ${word} than ${baseline}: ${range}, ${size}.`
    case 'within-margin':
      return `${candidate} and ${baseline} are equivalent: the 90 % interval, ${signed(primary.interval90.low)} to ${signed(primary.interval90.high)}, lies within ±${margin} (${size}).`
    case 'too-wide':
      return `${open} is inconclusive: ${range} holds 0 and reaches beyond ±${margin} (${size}).`
    default:
      return assertNever(reason)
  }
}

/** `1 task`, `2 tasks`. */
export function counted(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

/** Three decimals, with its sign. */
export function signed(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+∞' : '-∞'
  const text = Math.abs(value).toFixed(3)
  return Number(text) === 0 ? '0.000' : `${value < 0 ? '-' : '+'}${text}`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function assertNever(value: never): never {
  throw new Error(`not a reason: ${String(value)}`)
}
