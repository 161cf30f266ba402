import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WireReader } from '../../../collector/ingest/wire-reader.ts'

describe('the wire reader', () => {
  test('reads what protobuf’s own writer wrote: texts of any length and script, integers of 64 bits, doubles', () => {
    const item = fc.record({
      text: fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ minLength: 40, maxLength: 60 }),
        fc.constantFrom('gen_ai.system', 'gen_ai.systen'),
      ),
      int: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fixed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      double: fc.double({ noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const writer = new BinaryWriter()
        for (const { text, int, fixed, double } of items) writer.string(text).int64(int).fixed64(fixed).double(double)
        const reader = new WireReader(writer.finish())
        const read = items.map(() => ({
          text: reader.text(),
          int: BigInt(reader.int64()),
          fixed: reader.fixed64(),
          double: reader.double(),
        }))
        expect(read).toEqual(items.map((given) => ({ ...given, text: given.text.toWellFormed() })))
        reader.endsAt(reader.bytes.length)
      }),
    )
  })

  test('gives an integer as a number where that is exact, else as a bigint', () => {
    const bytes = new BinaryWriter()
      .int64(-1)
      .int64(2n ** 53n)
      .int64(Number.MAX_SAFE_INTEGER)
      .finish()
    const reader = new WireReader(bytes)
    expect([reader.int64(), reader.int64(), reader.int64()]).toEqual([-1, 2n ** 53n, Number.MAX_SAFE_INTEGER])
  })

  test('passes over fields of every wire type, groups within groups too', () => {
    const writer = new BinaryWriter()
    writer.tag(9, WireType.Varint).int64(-5).tag(9, WireType.Bit64).fixed64(5).tag(9, WireType.Bit32).fixed32(5)
    writer.tag(9, WireType.LengthDelimited).string('x').tag(9, WireType.StartGroup).tag(1, WireType.StartGroup)
    writer.tag(1, WireType.EndGroup).tag(2, WireType.Varint).int32(1).tag(9, WireType.EndGroup)
    writer.tag(1, WireType.LengthDelimited).string('after')
    const reader = new WireReader(writer.finish())
    for (let n = 0; n < 5; n++) reader.skip(reader.tag())
    expect([reader.tag(), reader.text()]).toEqual([10, 'after'])
  })

  test.each([
    ['a text longer than the bytes', [0x7f, 1], (reader: WireReader) => reader.text()],
    ['a number without an end', [0xff, 0xff], (reader: WireReader) => reader.uint32()],
    ['a number of eleven bytes', new Array<number>(11).fill(0x80), (reader: WireReader) => reader.int64()],
    ['eight bytes of which three are there', [1, 2, 3], (reader: WireReader) => reader.fixed64()],
    ['field number 0', [2, 0], (reader: WireReader) => reader.tag()],
    ['a group that does not end', [], (reader: WireReader) => reader.skip(11)],
    ['a wire type that there is not', [], (reader: WireReader) => reader.skip(14)],
    ['four bytes to pass over of which one is there', [1], (reader: WireReader) => reader.skip(13)],
  ])('throws at %s', (_, bytes, read) => {
    expect(() => read(new WireReader(Uint8Array.from(bytes)))).toThrow()
  })
})
