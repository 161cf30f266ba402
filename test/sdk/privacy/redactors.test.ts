import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutKeys } from '../../../sdk/privacy/key-patterns.ts'
import { pseudonymsOf } from '../../../sdk/privacy/pseudonym.ts'
import { redactorOrder, redactText } from '../../../sdk/privacy/redactors.ts'

const pseudonym = pseudonymsOf('key', 'project')
const all = (text: string) => redactText(text, redactorOrder, pseudonym)
const found = (text: string) => all(text).replace(/<(\w+):[0-9a-f]{8}>/g, '<$1>')

const luhn = (digits: string): string => {
  const sum = [...digits, '0'].toReversed().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return digits + ((10 - (sum % 10)) % 10)
}
const anyDigits = (length: number) => fc.string({ minLength: length, maxLength: length, unit: fc.constantFrom(...'0123456789') })
const anyCard = fc.oneof(
  anyDigits(14).map((rest) => luhn(`4${rest}`)),
  anyDigits(13).map((rest) => luhn(`51${rest}`)),
  anyDigits(12).map((rest) => luhn(`37${rest}`)),
)
const grouped = (digits: string, separator: string) => digits.match(/\d{1,4}/g)?.join(separator) ?? ''

describe('the built-in redactors', () => {
  it.each([
    ['Write to Ada.Lovelace+x@mail.example.co.uk, please.', 'Write to <email>, please.'],
    ['<ada@example.com> and mailto:bob@example.org', '<<email>> and mailto:<email>'],
    ['müller@bücher.example', '<email>'],
    ['?to=joe%40example.com&x=1', '?to=<email>&x=1'],
    ['ada@example.com0bob@example.com', '<email><email>'],
    ['+49 171 2345678+49 171 2345679', '<phone><phone>'],
    ['call +49 171 2345678 or (555) 123-4567 or 555-123-4567', 'call <phone> or <phone> or <phone>'],
    ['Mobil: 0171 2345678', 'Mobil: <phone>'],
    ['card 4111 1111 1111 1111 12/28, or 4111111111111111.', 'card <card> 12/28, or <card>.'],
    ['2 4111-1111-1111-1111', '2 <card>'],
    ['amex 3782 822463 10005', 'amex <card>'],
    ['sk-proj-abcdefghijklmnopqrstuv and AKIAIOSFODNN7EXAMPLE', '<key> and <key>'],
    ['Authorization: Bearer abcdefghijklmnop1234', 'Authorization: Bearer <key>'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----', '<key>'],
  ])('%s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })

  it.each([
    'order 1234567 of 2026-12-02T04:48:02.123Z, total 1,234.50',
    'ids 1764547200000 and 4111111111111112 and 00000000-0000-4000-8000-000000000000',
    'version 10.20.300.4000, 01/2026, 127.0.0.1:8080',
    'a task-force, the desk_lamp, user@host, @mention',
    'call_abc123 toolu_01A09q90qw90lq917835lq9',
  ])('leave alone: %s', (text) => {
    expect(all(text)).toBe(text)
  })

  it('the same value has the same word, however it is written; another key or project has others', () => {
    expect(all('Ada@Example.com')).toBe(all('ada@example.com'))
    expect(all('4111 1111 1111 1111')).toBe(all('4111111111111111'))
    expect(all('+49 171 2345678')).toBe(all('+49(171)2345678'))
    expect(all('ada@example.com')).not.toBe(all('bob@example.com'))
    const words = [
      ['key', 'project'],
      ['other', 'project'],
      ['key', 'other'],
    ].map(([key = '', project = '']) => pseudonymsOf(key, project)('email', 'a'))
    expect(new Set(words).size).toBe(3)
    expect(words[0]).toMatch(/^<email:[0-9a-f]{8}>$/)
  })

  it('find every card of an issuer, in any grouping and company', () => {
    fc.assert(
      fc.property(
        anyCard,
        fc.constantFrom('', ' ', '-'),
        fc.constantFrom('', 'Card: ', '12 ', '('),
        fc.constantFrom('', ' 12', ', thanks', ')'),
        (digits, separator, before, after) => {
          expect(found(before + grouped(digits, separator) + after)).toBe(`${before}<card>${after}`)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('find every e-mail address', () => {
    fc.assert(
      fc.property(fc.emailAddress({ size: 'small' }), (address) => {
        // Quoted and other odd local parts are allowed by the standard, and not looked for.
        fc.pre(/^\w[\w.%+-]*@[a-z0-9.-]+$/i.test(address))
        expect(found(`to ${address} now`)).toBe('to <email> now')
      }),
    )
  })

  it('twice is once, whatever the text', () => {
    const bits = fc.constantFrom(
      'ada@example.com',
      '+49 171 2345678',
      '4111 1111 1111 1111',
      'sk-abcdefghijklmnopqrst',
      ' ',
      '<',
      '>',
      ':',
      '@',
      '+',
      '0',
      '12',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(bits, fc.string({ maxLength: 5 })), { maxLength: 8 }), (parts) => {
        const once = all(parts.join(''))
        expect(all(once)).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  it.each(['a', '@', '1', '-', 'a.', 'a@', '1 ', '+1', 'sk-', 'eyJ', '-----BEGIN PRIVATE KEY-----', '?key='])(
    'hostile text costs little: %s, 200,000 times',
    (part) => {
      const before = performance.now()
      all(part.repeat(200_000))
      withoutKeys(part.repeat(200_000))
      expect(performance.now() - before).toBeLessThan(15_000)
    },
  )
})
