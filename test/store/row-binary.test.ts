import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RowBinaryWriter } from '../../store/row-binary.ts'

/** What stands there, by RowBinary's own rules: a length in LEB128, then the bytes. */
function readStrings(bytes: Buffer): string[] {
  const texts: string[] = []
  let at = 0
  while (at < bytes.length) {
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      length |= (byte & 127) << shift
      if (byte < 128) break
    }
    texts.push(bytes.toString('utf8', at, at + length))
    at += length
  }
  return texts
}

describe('RowBinary', () => {
  test('writes texts of any length and script, and starts anew in the same memory', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '',
        'a'.repeat(40),
        'a'.repeat(41),
        'ä'.repeat(40),
        'a'.repeat(127),
        'a'.repeat(128),
        'ä'.repeat(100),
        '€'.repeat(50),
      ),
      fc.constantFrom('a'.repeat(16_383), 'ä'.repeat(10_000), '😀'.repeat(40_000), 'a\u0000b', '\ud800'),
    )
    const writer = new RowBinaryWriter()
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        writer.clear()
        for (const one of texts) writer.string(one)
        expect(readStrings(writer.written())).toEqual(texts.map((one) => one.toWellFormed()))
        expect(writer.length).toBe(writer.written().length)
      }),
      { numRuns: 50 },
    )
  })

  test('writes a count as NULL or 64 bits, and what is no count as NULL', () => {
    const bytesOf = (value: number | undefined) => {
      const writer = new RowBinaryWriter()
      writer.nullableCount(value)
      return writer.written().toString('hex')
    }
    expect([bytesOf(undefined), bytesOf(-1), bytesOf(Number.NaN), bytesOf(0), bytesOf(1.9), bytesOf(2 ** 40 + 7)]).toEqual([
      '01',
      '01',
      '01',
      '000000000000000000',
      '000100000000000000',
      '000700000000010000',
    ])
  })
})
