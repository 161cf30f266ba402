// Finds e-mail addresses, phone numbers, card numbers and keys in text and puts pseudonyms in their place. Every repetition is bounded: hostile text costs linear time.
import { keyPatterns } from './key-patterns.ts'
import type { Pseudonym } from './pseudonym.ts'

/** Redactors that a user turns on by name. */
export type BuiltInRedactor = 'email' | 'phone' | 'card' | 'key'

/** Text in, text out. */
export type TextRedactor = (text: string, pseudonym: Pseudonym) => string

const textRedactors: Readonly<Record<BuiltInRedactor, TextRedactor>> = {
  email: (text, pseudonym) =>
    text.includes('@') || text.includes('%40')
      ? text.replace(emailPattern, (found) => pseudonym('email', found.toLowerCase().replace('%40', '@')))
      : text,
  phone: (text, pseudonym) =>
    text.replace(phonePattern, (found) => {
      const digits = found.replace(/\D/g, '')
      return digits.length < 8 || digits.length > 15 ? found : pseudonym('phone', found.startsWith('+') ? `+${digits}` : digits)
    }),
  card: (text, pseudonym) => text.replace(digitRun, (run) => withoutCards(run, pseudonym)),
  key: (text, pseudonym) => keyPatterns.reduce((rest, pattern) => rest.replace(pattern, (found) => pseudonym('key', found)), text),
}

/** A card comes before a phone, since a card's groups look like one; a key before both, since it may hold digits. */
export const redactorOrder: readonly BuiltInRedactor[] = ['key', 'email', 'card', 'phone']

/** Applies those named until nothing is left to find: of addresses that touch, the second is one only when the first has become a word of its own. Twice is once. */
export function redactText(text: string, names: readonly BuiltInRedactor[], pseudonym: Pseudonym): string {
  const redactors = redactorOrder.filter((name) => names.includes(name)).map((name) => textRedactors[name])
  let redacted = text
  for (let before: string | undefined; before !== redacted; ) {
    before = redacted
    redacted = redactors.reduce((rest, redactor) => redactor(rest, pseudonym), before)
  }
  return redacted
}

const emailPattern =
  /(?<![\p{L}\p{N}_])[\p{L}\p{N}_][\p{L}\p{N}._%+-]{0,63}(?:@|%40)(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){1,8}\p{L}{2,24}/gu

/** `+49 171 2345678`, `(555) 123-4567`, `555-123-4567`, `0171 2345678`; not dates, amounts and ids. */
const phonePattern =
  /(?<![\w.+:-])(?:\+\d(?:[ ()./-]{0,2}\d){6,14}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[ .-]\d{3}[ .-]\d{4}|0\d{1,4}[ /-]\d{3,5}(?:[ -]?\d{2,5}){0,2})(?![\w-])/g

/** Digits, alone or in groups: long enough for a card, and perhaps more than one number. */
const digitRun = /(?<![\w.])\d(?:[ -]?\d){12,40}(?!\w)/g

/** Each number in the run that is a card's, longest first, beginning and ending where a group does. */
function withoutCards(run: string, pseudonym: Pseudonym): string {
  const places = [...run.matchAll(/\d/g)].map(({ index }) => index)
  for (const [first, start] of places.entries()) {
    if (start > 0 && /\d/.test(run[start - 1] ?? '')) continue
    for (let length = Math.min(19, places.length - first); length >= 13; length -= 1) {
      const end = (places[first + length - 1] ?? 0) + 1
      if (/\d/.test(run[end] ?? '')) continue
      const digits = run.slice(start, end).replace(/\D/g, '')
      if (isCard(digits)) return `${run.slice(0, start)}${pseudonym('card', digits)}${withoutCards(run.slice(end), pseudonym)}`
    }
  }
  return run
}

/** Issuers' prefixes and lengths (ISO/IEC 7812): one in ten numbers passes Luhn's check by chance. */
const issuers: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12})$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[689]\d)\d{11,16}$/,
  /^(?:6011|65\d\d|64[4-9]\d)\d{12,15}$/,
  /^35(?:2[89]|[3-8]\d)\d{12,15}$/,
  /^62\d{14,17}$/,
]

function isCard(digits: string): boolean {
  return issuers.some((issuer) => issuer.test(digits)) && passesLuhn(digits)
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place])
    const doubled = digit * 2
    sum += place % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
