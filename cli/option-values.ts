// Values of command-line options, read from their text. Commander names the option of a refused value; the error here says how to write it.
import { HomegroundError } from '@homeground/sdk/trace'
import { InvalidArgumentError } from 'commander'
import { feedbackValue } from '../store/feedback-value.ts'
import { inert } from './terminal.ts'

/** NAME=VALUE, added to those before. */
export function tagOf(text: string, previous: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=')
  if (at > 0) return { ...previous, [text.slice(0, at)]: text.slice(at + 1) }
  throw new HomegroundError('invalid-argument', `--tag ${inert(text)} is not NAME=VALUE`, { hint: 'for example --tag plan=pro' })
}

/** A time in words that Date reads, as ISO 8601. */
export function timeOf(text: string): string {
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new InvalidArgumentError('Write it like 2026-01-31 or 2026-01-31T12:00:00Z.')
}

/** A whole number of 1 or more. */
export function countOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number of 1 or more.')
}

/** An amount of money over 0, with or without the sign. */
export function dollarsOf(text: string): number {
  const dollars = Number(text.replace(/^\$/, ''))
  if (text.trim() !== '' && dollars > 0 && Number.isFinite(dollars)) return dollars
  throw new InvalidArgumentError('Give an amount in US dollars over 0, like 2.50.')
}

/** none, recorded (1), or a factor over 0 of what was recorded. */
export function latencyOf(text: string): number | 'none' {
  if (text === 'none') return 'none'
  const factor = text === 'recorded' ? 1 : Number(text)
  if (text.trim() !== '' && factor > 0 && Number.isFinite(factor)) return factor
  throw new HomegroundError('invalid-argument', `--latency ${inert(text)} is neither none, recorded nor a factor over 0`, {
    hint: 'for example --latency 0.1: a tenth of what the tools took when they were recorded',
  })
}

/** A share between 0 and 1. */
export function shareOf(text: string): number {
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new InvalidArgumentError('Give a number between 0 and 1, like 0.95.')
}

/** A difference of scores under which they count as equal: a share above 0. */
export function marginOf(text: string): number {
  const margin = Number(text)
  if (text.trim() !== '' && margin > 0 && margin <= 1) return margin
  throw new InvalidArgumentError('Give a share of the score above 0, like 0.05.')
}

/** NAME, or NAME=VALUE where the value is true, false, a number or a text. */
export function feedbackOf(text: string): { name: string; value?: number | boolean | string } {
  const at = text.indexOf('=')
  if (at === 0 || text === '')
    throw new HomegroundError('invalid-argument', `--feedback ${inert(text)} has no name`, { hint: 'for example --feedback thumbs=true' })
  if (at === -1) return { name: text }
  return { name: text.slice(0, at), value: feedbackValue(text.slice(at + 1)) }
}

/** 60/20/20 as shares. */
export function splitsOf(text: string): { train: number; validation: number; test: number } {
  const [train, validation, test, ...rest] = text.split('/').map(Number)
  const parts = [train, validation, test]
  const total = parts.reduce<number>((sum, part) => sum + (part ?? Number.NaN), 0)
  if (rest.length > 0 || !(total > 0) || parts.some((part) => part === undefined || part < 0)) {
    throw new HomegroundError('invalid-argument', `--splits ${inert(text)} is not TRAIN/VALIDATION/TEST`, {
      hint: 'for example --splits 60/20/20',
    })
  }
  return { train: (train ?? 0) / total, validation: (validation ?? 0) / total, test: (test ?? 0) / total }
}

/** A TCP port; 0 is any. */
export function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port
  throw new HomegroundError('invalid-argument', `${inert(text)} is no port`, { hint: 'give a number from 0 (any) to 65535' })
}

/** 90s, 30m, 24h or 7d, as milliseconds. */
export function durationOf(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text)
  const unit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match?.[2] ?? '']
  if (unit !== undefined) return Number(match?.[1]) * unit
  throw new HomegroundError('invalid-argument', `${inert(text)} is no length of time`, { hint: 'write it like 90s, 30m, 24h or 7d' })
}
