import { describe, expect, test } from 'vitest'
import { causeOf } from '../../../replay/environment/cause.ts'
import { firstDifference } from '../../../replay/environment/first-difference.ts'

function cause(expected: unknown, actual: unknown, context: Partial<Parameters<typeof causeOf>[1]> = {}) {
  const difference = firstDifference(expected, actual, 'at')
  if (difference === undefined) throw new Error('no difference')
  return causeOf(difference, { place: 'other', unstable: false, ...context })
}

describe('causeOf', () => {
  test.each([
    ['Now: 2026-01-05T10:00:00.123Z.', 'Now: 2026-12-02T01:38:00.001Z.'],
    ['It is Monday, 5 January 2026', 'It is Wednesday, 2 December 2026'],
    ['Jan 5, 2026 10:00 AM', 'Dec 2, 2026 1:38 PM'],
    ['at 10:00', 'at 10:01'],
    ['epoch 1767607200123', 'epoch 1796175480001'],
    ['Mon Jan 05 2026 10:00:00 GMT+0000', 'Wed Dec 02 2026 01:38:00 GMT+0000'],
  ])('takes %j against %j for a clock', (expected, actual) => {
    expect(cause(expected, actual)).toBe('unwrapped-clock')
  })

  test.each([
    ['id 0b7e4d2a-8c1f-4e6b-9a3d-5f7c2e1b8a90', 'id 3f9c1a7e-2b4d-4c8e-8f1a-6d5b9e0c7a21'],
    ['0.1234567890', '0.9876543210'],
    ['ticket k3x9qz', 'ticket p81mwa'],
  ])('takes %j against %j for dice', (expected, actual) => {
    expect(cause(expected, actual)).toBe('unwrapped-random')
  })

  test.each(['a-', 'a1-', '-', '1 ', '1-', '1:', '.1', 'jan ', 'jan', ' ', 'mon'])('reads a text of any length: of %j', (piece) => {
    const long = piece.repeat(200_000)
    const difference = { path: 'at', expected: '', actual: '', expectedPart: `${long} kite`, actualPart: `${long} boat` }
    expect(causeOf(difference, { place: 'other', unstable: false })).toBe('changed-code')
  })

  test('takes a value that changes from replay to replay for dice, whatever it looks like', () => {
    expect(cause('Hello Ann', 'Hello Bob', { unstable: true })).toBe('unwrapped-random')
  })

  test.each([
    ['You are a clerk. 0.1234567', 'You are a clerk. 0.1234567 Be brief.'],
    ['On 2026-01-05 we open', 'On 2026-01-05 we close'],
    ['kite', 'boat'],
  ])('takes %j against %j for a change of code', (expected, actual) => {
    expect(cause(expected, actual)).toBe('changed-code')
    expect(cause(expected, actual, { place: 'tools' })).toBe('changed-tool')
  })
})

describe('firstDifference', () => {
  test('gives the path, whatever the order of keys, and the text around', () => {
    expect(
      firstDifference({ b: 1, a: [{ t: `${'x'.repeat(100)} one two` }] }, { a: [{ t: `${'x'.repeat(100)} one three` }], b: 1 }, 'request'),
    ).toEqual({
      path: 'request.a[0].t',
      expected: `"…${'x'.repeat(35)} one two"`,
      actual: `"…${'x'.repeat(35)} one three"`,
      expectedPart: 'two',
      actualPart: 'three',
    })
  })

  test('tells what is missing on a side', () => {
    expect(firstDifference([1], [1, { x: 1 }], 'm')).toMatchObject({ path: 'm[1]', expected: '(nothing)', actual: '{"x":1}' })
    expect(firstDifference({ a: undefined }, {}, 'm')).toBeUndefined()
  })
})
